package gc

import "runtime/debug"

// percent is the garbage that may accumulate before a collection, in percent of the memory in use.
// Our servers keep little in use, some megabytes. With Go's default of 100 they would collect many
// times a second under load: 2 to 7 % of a payment's instructions. This costs 2 to 5 MB;
// deploy/docs/architecture.md has the figures.
const percent = 120

// stateless is the value for a program that keeps only about a megabyte in use. With percent, such
// a program could have only a few MB of garbage. The value costs it 12 MB and saves a tenth of its
// instructions; 150 would save half of that. For a core with a store on a server it costs 13 MB and
// saves a quarter.
const stateless = 400

// Relax makes this process collect garbage less often than Go's default. GOGC, if set, wins. Call
// it once, at the start of a program that serves.
func Relax(getenv func(string) string) { relax(getenv, percent) }

// RelaxStateless is Relax for a program without state in its memory, such as a proxy.
func RelaxStateless(getenv func(string) string) { relax(getenv, stateless) }

func relax(getenv func(string) string, percent int) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
