// Package keystore stores keys, the announcements about them, and the responses to requests of the
// key API. SQLite serves filters on one machine, PostgreSQL filters on several. The package stores
// rows and cannot read keys, because private keys arrive encrypted.
package keystore
