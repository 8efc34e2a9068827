package acme

import (
	"crypto/x509"
	"time"

	rfc "github.com/mholt/acmez/v3/acme"
)

const (
	day = 24 * time.Hour
	// latestRenewal leaves two days to publish a new certificate and to serve it, out of the 90 that one may be served.
	latestRenewal = 88 * day
	// The third of its life that a certificate has left when it is renewed: a little less than a third, so that one of 90 days, which authorities
	// date back an hour, is not renewed before the 60 days are over.
	leftPercent = 33
)

// issued is what due knows of a certificate.
type issued struct {
	notBefore, notAfter time.Time
	obtained            time.Time // by our clock
	jitter              float64   // 0 … 1, drawn when it was obtained: many edges that were set up at once do not all come at once
	advice              rfc.RenewalInfo
}

func newIssued(leaf *x509.Certificate, s state) issued {
	i := issued{notBefore: leaf.NotBefore, notAfter: leaf.NotAfter, obtained: s.Obtained, jitter: s.Jitter}
	if s.Serial != leaf.SerialNumber.String() { // the process died before the state was written
		i.obtained, i.jitter = leaf.NotBefore, 0
	}
	if s.Advice != nil && s.Serial == leaf.SerialNumber.String() {
		i.advice = *s.Advice
	}
	return i
}

// due is when the certificate is to be renewed: renewAfter after it came, and not later than a third of its life before its end. The authority is
// heard where it wants the certificate gone before that: it may have to revoke it.
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
	// An authority that gives certificates which are due at once, or a clock that is wrong, must not make us order one after the other.
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

// pause is how long to wait after that many attempts failed in a row: a minute, three, nine … Authorities refuse whoever fails more than five
// times an hour. left is how long there is a certificate to be served; share, 0 … 1, spreads edges by a fifth.
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
