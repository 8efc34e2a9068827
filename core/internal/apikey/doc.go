// Package apikey is the written form of a v1 API key: how one is made, told from garbage, stored and hinted at, and what it may
// be allowed to do.
//
// A key reads sk_test_ + secret + checksum. The secret is 32 random bytes as 43 base62 digits, the checksum the CRC-32 of all that
// stands before it as 6 base62 digits. The checksum protects nobody; it lets a mistyped or invented key be refused before the store is asked.
// The package knows neither the store nor HTTP.
package apikey
