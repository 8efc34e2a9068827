package main

import (
	"flag"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/admin"
)

// dayFlags adds the flags for the end of a merchant's day. The returned function reads them; a flag
// that is not set changes nothing.
func dayFlags(f *flag.FlagSet) func() (admin.Day, error) {
	zone := f.String("time-zone", "", "IANA time zone")
	cutoff := f.String("cutoff", "", "when the day ends, HH:MM")
	return func() (admin.Day, error) {
		d := admin.Day{TimeZone: *zone, Cutoff: admin.SameCutoff}
		if *cutoff != "" {
			at, err := time.Parse("15:04", *cutoff)
			if err != nil {
				return admin.Day{}, fmt.Errorf("--cutoff %q: want HH:MM", *cutoff)
			}
			d.Cutoff = at.Hour()*60 + at.Minute()
		}
		return d, d.Validate()
	}
}
