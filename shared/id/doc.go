// Package id makes and reads the identifiers of v1. An identifier is a prefix that names the kind
// of object, an underscore, and 13 characters of lower-case Crockford base32. These encode one
// positive 63-bit integer. The integers are time-ordered.
//
// The encoding is a public property: a client that needs a number converts both ways without a
// look-up.
package id
