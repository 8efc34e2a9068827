// Package vault seals what must not be readable in the store: card and bank account numbers, and security codes for as long as they live.
//
// Each text is encrypted by a keyset that lies, itself encrypted by the key-encryption key, in a file beside the store. It is bound to
// its place: the tenant, the object and the field. A ciphertext that is moved to another place does not open there.
package vault
