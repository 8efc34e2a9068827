// Package chars has the checks of characters that both dialects need.
package chars
