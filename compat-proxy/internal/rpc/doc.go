// Package rpc is the JSON-RPC 2.0 door to every legacy method of the catalogue: one call is one legacy request, its params are the
// JSON body that the method has at its own door, and its result is the JSON answer it would get there, errors of the method included.
// A JSON-RPC error says that the method was not reached.
package rpc
