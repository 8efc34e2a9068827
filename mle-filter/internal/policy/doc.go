// Package policy decides which requests must, may or must not be encrypted. It has a table by
// method and path, and merchants that demand more.
package policy
