// Package policy says which requests must, may or must not be encrypted: a table by method and path, and merchants that asked for more.
package policy
