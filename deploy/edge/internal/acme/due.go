package acme

import (
	"crypto/x509"
	"time"

	rfc "github.com/mholt/acmez/v3/acme"
)

const (
	day = 24 * time.Hour
	// latestRenewal leaves two days to publish and to serve a new certificate, of the 90 that one may
	// be served.
	latestRenewal = 88 * day
	// leftPercent is the part of its life that a certificate has left at its renewal, a little less
	// than a third. Authorities date certificates back an hour, and one of 90 days must be served for
	// 60 days.
	leftPercent = 33
)

// issued has the facts of a certificate that due depends on.
type issued struct {
	notBefore, notAfter time.Time
	obtained            time.Time // by our clock
	// 0 … 1, drawn at the issue: it spreads the renewals of edges that were installed together
	jitter float64
	advice rfc.RenewalInfo
}

func newIssued(leaf *x509.Certificate, s state) issued {
	i := issued{notBefore: leaf.NotBefore, notAfter: leaf.NotAfter, obtained: s.Obtained, jitter: s.Jitter}
	if s.Serial != leaf.SerialNumber.String() { // the process died before it wrote the state
		i.obtained, i.jitter = leaf.NotBefore, 0
	}
	if s.Advice != nil && s.Serial == leaf.SerialNumber.String() {
		i.advice = *s.Advice
	}
	return i
}

// due returns when the certificate must be renewed: renewAfter after its issue, but no later than
// at the last third of its life. Advice of the authority for an earlier renewal has precedence: it
// may precede a revocation.
func (i issued) due(renewAfter time.Duration) time.Time {
	life := i.notAfter.Sub(i.notBefore)
	jitter := time.Duration(i.jitter * float64(min(life/400, 6*time.Hour)))
	at := i.obtained.Add(min(renewAfter, latestRenewal) + jitter)
	if latest := i.notAfter.Add(-life / 100 * leftPercent).Add(-jitter); latest.Before(at) {
		at = latest
	}
	if i.advice.HasWindow() && i.advice.SuggestedWindow.End.Before(at) {
		at = i.advice.SelectedTime
	}
	// Certificates that are due immediately, or a wrong clock, must not cause one order after the
	// other.
	if earliest := i.obtained.Add(min(day, life/10)); at.Before(earliest) {
		at = earliest
	}
	return at
}

const (
	firstPause  = time.Minute
	longPause   = 6 * time.Hour
	restartWait = 15 * time.Minute
)

// pause returns the pause after a number of consecutive failures: a minute, three, nine …
// Authorities block clients with more than five failures an hour. left is the remaining life of the
// certificate. share, 0 … 1, spreads edges by a fifth.
func pause(failures int, left time.Duration, share float64) time.Duration {
	wait := firstPause
	for range min(failures-1, 10) {
		wait *= 3
	}
	longest := longPause
	if left > 0 {
		longest = max(restartWait, min(longest, left/10))
	}
	wait = min(wait, longest)
	return wait + time.Duration(share*float64(wait)/5)
}
