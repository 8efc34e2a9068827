// Package rpc is the JSON-RPC 2.0 endpoint for every legacy method of the catalogue. One call is
// one legacy request, and its params are the JSON body that the method takes at its own endpoint.
// The result is the JSON response of that endpoint, errors of the method included. A JSON-RPC error
// means that the method was not reached.
package rpc
