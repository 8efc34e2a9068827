package acme_test

import (
	"testing"
	"time"

	rfc "github.com/mholt/acmez/v3/acme"

	"github.com/causeway-pay/causeway/deploy/edge/internal/acme"
)

const (
	hour = time.Hour
	day  = 24 * hour
)

func TestDue(t *testing.T) {
	t.Parallel()
	came := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	advice := func(from, to time.Duration) (i rfc.RenewalInfo) {
		i.SuggestedWindow.Start, i.SuggestedWindow.End, i.SelectedTime = came.Add(from), came.Add(to), came.Add(from)
		return i
	}
	tests := []struct {
		name             string
		life             time.Duration // it begins an hour before the issue
		after            time.Duration
		advice           rfc.RenewalInfo
		earliest, latest time.Duration // without and with the whole jitter, in either order
	}{
		{"90Days", 90*day - time.Second, 60 * day, rfc.RenewalInfo{}, 60 * day, 60*day + 6*hour},
		{"200Days", 200 * day, 60 * day, rfc.RenewalInfo{}, 60 * day, 60*day + 6*hour},
		{"100Days", 100 * day, 60 * day, rfc.RenewalInfo{}, 60 * day, 60*day + 6*hour},
		{"LaterOnDemand", 200 * day, 75 * day, rfc.RenewalInfo{}, 75 * day, 75*day + 6*hour},
		{"NeverBeyond90", 200 * day, 200 * day, rfc.RenewalInfo{}, 88 * day, 88*day + 6*hour},
		{"47Days", 47 * day, 60 * day, rfc.RenewalInfo{}, 31 * day, 32 * day},
		{"SixDays", 6 * day, 60 * day, rfc.RenewalInfo{}, 95 * hour, 97 * hour},
		{"OneHour", 2 * hour, 60 * day, rfc.RenewalInfo{}, 19 * time.Minute, 21 * time.Minute},
		{"AdviceAround", 90 * day, 60 * day, advice(58*day, 62*day), 60 * day, 60*day + 6*hour},
		{"AdviceLater", 90 * day, 60 * day, advice(70*day, 75*day), 60 * day, 60*day + 6*hour},
		{"AdviceEarlier", 90 * day, 60 * day, advice(10*day, 12*day), 10 * day, 10 * day},
		{"AdviceInThePast", 90 * day, 60 * day, advice(-3*day, -2*day), day, day},
		{"NearlyExpiredWhenItCame", 90 * time.Minute, 60 * day, rfc.RenewalInfo{}, 9 * time.Minute, 9 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			from := came.Add(-hour)
			for _, jitter := range []float64{0, 0.5, 1} {
				at := acme.Due(from, from.Add(tt.life), came, jitter, tt.advice, tt.after)
				if at.Before(came.Add(tt.earliest)) || at.After(came.Add(tt.latest)) {
					t.Errorf("jitter %v: got %s after it came, want %s … %s", jitter, at.Sub(came), tt.earliest, tt.latest)
				}
			}
		})
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	tests := []struct {
		failures int
		left     time.Duration
		want     time.Duration
	}{
		{1, 30 * day, time.Minute},
		{2, 30 * day, 3 * time.Minute},
		{4, 30 * day, 27 * time.Minute},
		{6, 30 * day, 243 * time.Minute},
		{7, 30 * day, 6 * hour},
		{1000000, 30 * day, 6 * hour},
		{1000000, 0, 6 * hour},     // no certificate
		{1000000, 10 * hour, hour}, // a certificate close to its end
		{1000000, time.Minute, 15 * time.Minute},
		{1000000, -day, 6 * hour}, // an expired certificate
	}
	for _, tt := range tests {
		if got := acme.Pause(tt.failures, tt.left, 0); got != tt.want {
			t.Errorf("%d failures, %s left: got %s, want %s", tt.failures, tt.left, got, tt.want)
		}
		if got, most := acme.Pause(tt.failures, tt.left, 1), tt.want*6/5; got != most {
			t.Errorf("%d failures, %s left: got at most %s, want %s", tt.failures, tt.left, got, most)
		}
	}
}
