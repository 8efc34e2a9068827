// Package mlefilter stands in front of core and takes message-level encryption off: JWE bodies come in, plain v1 JSON goes on to core, and
// the answers are wrapped again for whoever asked. It owns the private keys; core never sees a key or a JWE.
package mlefilter
