// Package policy decides which requests must, may or must not be encrypted. It has a table by
// method and path, and stricter rules of merchants.
package policy
