// Package socket makes unix sockets that only whom they are for gets into.
package socket
