// Package keyapi serves /v1/mle/*: the keys to encrypt to, their rotation, and the keys that merchants register for answers. It speaks as v1
// does: its errors, its Idempotency-Key, its 401.
//
// A publishable key may read the current key and nothing else here: who makes tokens in a browser has to encrypt to it, and it is public by
// nature. All else takes a secret key; what changes something takes the scope mle:write, and core is asked anew what the key is.
package keyapi
