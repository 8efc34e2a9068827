// Package mlefilter removes message-level encryption in front of core. It decrypts JWE bodies and
// forwards plain v1 JSON to core. It encrypts the responses for clients that demand it. It owns the
// private keys; core never receives a key or a JWE.
package mlefilter
