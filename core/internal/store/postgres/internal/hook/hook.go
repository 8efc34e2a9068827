// Package hook has the options of package postgres that only tests set. Only package postgrestest
// can import it.
package hook

// Options change how an engine runs commands.
type Options struct {
	// Rehearse runs every Nth command of the process twice, and rolls back the first run: a test then
	// finds a command that cannot run again. With 0 no command runs twice.
	Rehearse int
	// Alone makes no payment wait for a batch: its command writes it as a batch of one.
	Alone bool
}
