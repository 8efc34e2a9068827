// Package mle encrypts the requests of a v1 client and decrypts the responses: message-level
// encryption, on top of TLS.
//
//	encrypt := mle.Option(mle.Config{EncryptedResponses: true})
//	client, err := v1.NewClient(base, encrypt, v1.WithRequestEditorFn(withAPIKey))
//
// Without a registered response key, EncryptedResponses demands responses under keys that are
// derived from their requests. With a registered one, set Private.
//
// The protected header of each request binds the body to its time, method, path, Idempotency-Key
// and response key. An intermediary can then neither remove the demand for an encrypted response
// nor have a recorded body executed again. A POST or PATCH without an Idempotency-Key gets a random
// one.
//
// The transport fetches the merchant's key from /v1/mle/keys/current with the API key that requests
// carry. An intermediary that reads this response could replace the key. To exclude that, pin the
// key ids, which the merchant gets on another way.
package mle
