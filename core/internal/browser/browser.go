// Package browser holds the script with which a merchant's web page pays.
package browser

import (
	"crypto/sha512"
	_ "embed"
	"encoding/base64"
)

// Path is the path of Script. A released script never changes: a change is a new script at a new
// path.
const Path = "/v1/js/causeway-1.js"

// Script makes a token of a card and confirms a transaction with it. It needs no other script.
//
//go:embed causeway-1.js
var Script []byte

// Integrity returns the hash of Script for the integrity attribute of a script element.
func Integrity() string {
	hash := sha512.Sum384(Script)
	return "sha384-" + base64.StdEncoding.EncodeToString(hash[:])
}
