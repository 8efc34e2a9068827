// Package keyring owns the keys of message-level encryption: every merchant's own, of which it holds the private half, and those that
// merchants register for answers to be encrypted to.
//
// A key is next (published, and decrypts already), current (the one to encrypt to), previous (decrypts for a while) and then retired, or was
// revoked. A merchant has at most one next and one current key of each algorithm. Test and live mode are two tenants with keys of their own,
// as everywhere in v1: what this package calls a tenant, engine.Keys calls a merchant.
//
// Several filters share one store. Writes happen one after the other, and a rotation names the key that it replaces, so two that rotate at
// once make one rotation. Each filter answers from memory and asks the store every few seconds what has changed; a key id that it does not
// know, it asks for at once. So a new key works everywhere from the moment it can be seen, and what was revoked, or ended sooner than
// planned, stops everywhere within Config.RefreshEvery; what ends as planned ends to the millisecond. A filter that cannot ask the store
// goes on for Config.MaxStale.
package keyring
