// Package mle has a client of v1 encrypt what it sends and decrypt what it gets: message-level encryption, on top of TLS.
//
//	client, err := v1.NewClient(base, mle.Option(mle.Config{Private: key}), v1.WithRequestEditorFn(withAPIKey))
//
// The protected header of each request binds the body to its time, method, path, Idempotency-Key
// and response key. An intermediary can then neither remove the demand for an encrypted response
// nor have a recorded body executed again. A POST or PATCH without an Idempotency-Key gets a random
// one.
//
// The transport fetches the merchant's key from /v1/mle/keys/current with the API key that requests carry. Who reads that answer on its way
// could put a key of its own there: pin the key ids that the merchant was told another way, where that matters.
package mle
