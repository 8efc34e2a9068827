// Package apikey is the written form of a v1 API key. It makes, parses, hashes and masks keys, and
// lists the scopes they can have.
//
// A key reads sk_test_ + secret + checksum. The secret is 32 random bytes as 43 base62 digits. The
// checksum is the CRC-32 of everything before it, as 6 base62 digits. The checksum is no
// protection: it lets core reject a mistyped or invented key without reading the store. The package
// uses neither the store nor HTTP.
package apikey
