// Package hook has the options of package postgres that only tests set. Only package postgrestest
// can import it.
package hook

import "context"

// Options change how an engine runs commands.
type Options struct {
	// Rehearse runs every Nth command of the process twice, and rolls back the first run: a test then
	// finds a command that cannot run again. With 0 no command runs twice.
	Rehearse int
	// Alone makes no payment wait for a batch: its command writes it as a batch of one.
	Alone bool
}

type key struct{}

// With returns a context with which postgres.Open uses options.
func With(ctx context.Context, o Options) context.Context { return context.WithValue(ctx, key{}, o) }

// From returns the options of With, zero outside of tests.
func From(ctx context.Context) Options {
	o, _ := ctx.Value(key{}).(Options)
	return o
}
