// Package durable writes small files so that a reader, after any crash, finds either the old
// content or the new, never a part.
package durable
