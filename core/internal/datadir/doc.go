// Package datadir opens the store and the secrets of a core. They are in a folder, or in a database
// that several cores share. The package reports lost files before a new file could hide the loss.
// It creates, opens and rotates the root secret and the keys of the card vault, and lists all
// secrets that core holds.
package datadir
