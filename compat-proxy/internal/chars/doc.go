// Package chars has what both dialects ask of the characters of a text.
package chars
