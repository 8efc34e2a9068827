// Package secret holds text that must not be seen: card numbers, keys, passwords. A String prints
// as "[redacted]" in every encoding (fmt, slog, JSON, text, reflection). Only a call of Reveal
// returns its value.
package secret
