// Package engine is message-level encryption without a transport: heads and bytes in, bytes and header changes out. Both shells, the HTTP
// hop and Envoy's external processor, do what it decides and decide nothing themselves.
package engine
