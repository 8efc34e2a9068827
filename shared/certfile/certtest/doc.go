// Package certtest makes authorities and certificates for tests, good ones and any kind of bad
// ones.
package certtest
