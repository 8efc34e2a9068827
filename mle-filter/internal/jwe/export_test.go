package jwe

import "github.com/go-jose/go-jose/v4"

// BindTo assigns a decrypter of content keys, instead of a private key.
func (m *Message) BindTo(key jose.OpaqueKeyDecrypter) { m.key = key }

// Bytes returns the key itself, not a copy.
func (k *ResponseKey) Bytes() []byte { return k.key[:] }
