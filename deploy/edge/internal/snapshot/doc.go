// Package snapshot keeps what each node is to have, versioned by its content, kind by kind.
package snapshot
