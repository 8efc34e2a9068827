package gc

import "runtime/debug"

// percent is how much garbage, in percent of what is in use, is let lie before it is collected. Our servers keep little in use, some
// megabytes, so that Go's own 100 has them collect many times a second under load: 2 to 7 % of a payment's instructions. This costs 2 to
// 5 MB; core/PERFORMANCE.md has the figures.
const percent = 150

// Relax has this process collect garbage less often than Go does by itself. Where GOGC is set, that holds instead. Call it once, at the
// start of a program that serves.
func Relax(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
