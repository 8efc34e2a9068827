package gc

import "runtime/debug"

// percent is how much garbage, in percent of what is in use, is let lie before it is collected. Our servers keep little in use, a few
// megabytes, so that Go's own 100 has them collect dozens of times a second under load, which is a tenth of what a payment costs. Twice as
// much garbage costs some four megabytes.
const percent = 200

// Relax has this process collect garbage half as often as Go does by itself. Where GOGC is set, that holds instead. Call it once, at the
// start of a program that serves.
func Relax(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
