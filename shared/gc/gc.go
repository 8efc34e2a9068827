package gc

import "runtime/debug"

// percent is how much garbage, in percent of what is in use, is let lie before it is collected. Our servers keep little in use, some
// megabytes, so that Go's own 100 has them collect many times a second under load: 2 to 7 % of a payment's instructions. This costs 2 to
// 5 MB; core/PERFORMANCE.md has the figures.
const percent = 120

// stateless is the same for a program that keeps nothing in use to speak of, about a megabyte, and so would be allowed only 4 MB of garbage
// at a time. It costs such a program 12 MB and saves it a tenth of its instructions, of which 150 saves half. To a core whose store is in other
// processes it saves a quarter, for 13 MB.
const stateless = 400

// Relax has this process collect garbage less often than Go does by itself. Where GOGC is set, that holds instead. Call it once, at the
// start of a program that serves.
func Relax(getenv func(string) string) { relax(getenv, percent) }

// RelaxStateless is Relax for a program that keeps no state, as proxies do, or keeps it in other processes.
func RelaxStateless(getenv func(string) string) { relax(getenv, stateless) }

func relax(getenv func(string) string, percent int) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
