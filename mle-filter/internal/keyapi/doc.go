// Package keyapi serves /v1/mle/*: the keys that clients encrypt to, their rotation, and the
// response keys that merchants register. It has the same errors, Idempotency-Key and 401 response
// as v1.
//
// A publishable key may only read the current key, which is public: a browser that creates tokens
// needs it. All other requests need a secret key, and changes also the scope mle:write. Core is
// queried for the API key at each request.
package keyapi
