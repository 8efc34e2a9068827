// Package hook has the options of package postgres that only tests set. Only package postgrestest can
// reach it.
package hook

// Options change how an engine runs commands.
type Options struct {
	// Rehearse runs every Nth command of the process twice, and rolls back the first run: a test then
	// finds a command that cannot run again. With 0 no command runs twice.
	Rehearse int
	// Alone writes no payment in a batch: a test then sees the commands that do it one by one.
	Alone bool
}
