package acme

import (
	"time"

	rfc "github.com/mholt/acmez/v3/acme"
)

// Due calls due, for a table of lives.
func Due(notBefore, notAfter, obtained time.Time, jitter float64, advice rfc.RenewalInfo,
	renewAfter time.Duration,
) time.Time {
	return issued{
		notBefore: notBefore, notAfter: notAfter, obtained: obtained, jitter: jitter,
		advice: advice,
	}.due(renewAfter)
}

// Pause calls pause.
func Pause(failures int, left time.Duration, share float64) time.Duration {
	return pause(failures, left, share)
}
