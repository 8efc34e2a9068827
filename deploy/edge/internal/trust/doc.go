// Package trust tells one story of the certificates: what is served now and next, when it changes, and an event when it did.
package trust
