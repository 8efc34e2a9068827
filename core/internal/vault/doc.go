// Package vault seals data that must not be readable in the store. These are card and bank account
// numbers, the credentials of acquirer accounts, and security codes during their short life.
//
// Each text is encrypted by a keyset. The keyset is in a file outside of the store, encrypted by
// the key-encryption key. A text is bound to its place: the tenant, the object and the field. A
// ciphertext that is moved to another place does not open there.
package vault
