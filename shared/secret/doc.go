// Package secret holds text that must not be seen: card numbers, keys, passwords. A String prints as "[redacted]" through
// every door (fmt, slog, JSON, text encodings, reflection), and gives its value only to a caller that asks for it by name.
package secret
