// Package keyring owns the keys of message-level encryption: every merchant's own, of which it holds the private half, and those that
// merchants register for answers to be encrypted to.
//
// A key is next (published, and decrypts already), current (the one to encrypt to), previous (decrypts for a while) and then retired, or was
// revoked. A merchant has at most one next and one current key of each algorithm. Test and live mode are two tenants with keys of their own,
// as everywhere in v1: what this package calls a tenant, engine.Keys calls a merchant.
//
// Several filters share one store. Writes happen one after the other, and a rotation names the key that it replaces, so two that rotate at
// once make one rotation. Each filter answers from memory, but at every use it asks the store for its revision, which counts the writes, and
// reads anew what was changed: so a new key works everywhere from the moment it can be seen, and what was revoked, retired or deleted is used
// by no request that comes after that was answered, in any filter. Requests that come at the same time share one question. A filter that cannot
// ask uses no key: it cannot know which of them are still good.
package keyring
