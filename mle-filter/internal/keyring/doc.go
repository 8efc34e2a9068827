// Package keyring owns the keys of message-level encryption. It makes key pairs for each merchant,
// and stores the public keys that merchants register for encrypted responses.
//
// A key is in one of five states. It is next (published, and decrypts already), current (clients
// encrypt to it), previous (still decrypts for a while), retired, or revoked. A merchant has at
// most one next and one current key of each algorithm. Test and live mode are two tenants with
// separate keys, as everywhere in v1. A tenant of this package is a merchant in engine.Keys.
//
// Several filters share one store. Writes are serialized, and a rotation names the key that it
// replaces, so two concurrent rotations become one. Each filter keeps the keys in memory. At every
// use it reads the revision of the store, which counts the writes, and reloads the tenants that
// have changed. So a new key works in every filter as soon as it is visible. A key that was
// revoked, retired or deleted serves no request that starts after the response to that change.
// Concurrent requests share one query of the revision. A filter that cannot query the store uses no
// key, because the key may have ended.
package keyring
