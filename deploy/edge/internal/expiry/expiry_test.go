package expiry_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/causeway-pay/causeway/deploy/edge/internal/expiry"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/clock"
)

const day = 24 * time.Hour

var begin = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// TestAlarmIsRaisedOncePerMark goes through the life of a certificate, six hours at a time.
func TestAlarmIsRaisedOncePerMark(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		life time.Duration
		want []string // level and days left
	}{
		{"90Days", 90*day - time.Second, []string{"INFO 29", "WARN 13", "ERROR 6", "ERROR 0", "ERROR 0"}},
		{"200Days", 200 * day, []string{"INFO 30", "WARN 14", "ERROR 7", "ERROR 1", "ERROR 0"}},
		{"47Days", 47 * day, []string{"WARN 14", "ERROR 7", "ERROR 1", "ERROR 0"}},
		{"SixDays", 6 * day, []string{"ERROR 1", "ERROR 0"}},
		{"OneDay", day, []string{"ERROR 0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			now := clock.NewFake(begin)
			a := expiry.New(now, slog.New(slog.NewTextHandler(&log, nil)))
			issued := certtest.Root(t).Issue(t, certtest.Lives(begin, begin.Add(tt.life)))
			a.Serve(t.Context(), issued.Pair(t))
			for now.Now().Before(begin.Add(tt.life + 2*day)) {
				now.Advance(6 * time.Hour)
				a.Look(t.Context())
			}
			a.Serve(t.Context(), issued.Pair(t)) // the same certificate as before
			if got := raised(log.String()); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func raised(log string) []string {
	var all []string
	for line := range strings.Lines(log) {
		_, rest, _ := strings.Cut(line, "level=")
		level, _, _ := strings.Cut(rest, " ")
		_, days, _ := strings.Cut(strings.TrimSpace(line), "days_left=")
		all = append(all, level+" "+days)
	}
	return all
}

func TestAlarmStopsWhenAnotherIsServed(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	now := clock.NewFake(begin)
	a := expiry.New(now, slog.New(slog.NewTextHandler(&log, nil)))
	root := certtest.Root(t)
	a.Serve(t.Context(), root.Issue(t, certtest.Lives(begin, begin.Add(90*day))).Pair(t))
	now.Advance(80 * day)
	a.Look(t.Context())
	a.Serve(t.Context(), root.Issue(t, certtest.Lives(now.Now(), now.Now().Add(90*day))).Pair(t))
	now.Advance(20 * day)
	a.Look(t.Context())
	if got, want := raised(log.String()), []string{"WARN 10"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestRunLooks waits for the line that a run logs after the clock has moved.
func TestRunLooks(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	now := clock.NewFake(begin)
	a := expiry.New(now, slog.New(slog.NewTextHandler(ending{cancel}, nil)))
	a.Serve(ctx, certtest.Root(t).Issue(t, certtest.Lives(begin, begin.Add(90*day))).Pair(t))
	now.Advance(100 * day)
	a.Run(ctx, time.Millisecond)
}

type ending struct{ end func() }

func (e ending) Write(p []byte) (int, error) {
	e.end()
	return len(p), nil
}

func TestSeries(t *testing.T) {
	t.Parallel()
	now := clock.NewFake(begin)
	a := expiry.New(now, slog.New(slog.DiscardHandler))
	root := certtest.Root(t)
	life := certtest.Lives(begin, begin.Add(90*day))
	a.Serve(t.Context(), root.Issue(t, life).Pair(t), root.IssueFor(t, certtest.RSA(t, 2048), life).Pair(t))
	now.Advance(36 * time.Hour)
	a.Refused(true)
	const want = `# HELP causeway_edge_certificate_days_left Days until the served certificate ends; negative after it.
# TYPE causeway_edge_certificate_days_left gauge
causeway_edge_certificate_days_left{algorithm="ECDSA"} 88.5
causeway_edge_certificate_days_left{algorithm="RSA"} 88.5
# HELP causeway_edge_certificate_not_after_timestamp_seconds Time at which the served certificate expires.
# TYPE causeway_edge_certificate_not_after_timestamp_seconds gauge
causeway_edge_certificate_not_after_timestamp_seconds{algorithm="ECDSA"} 1.8030384e+09
causeway_edge_certificate_not_after_timestamp_seconds{algorithm="RSA"} 1.8030384e+09
# HELP causeway_edge_certificate_refused 1 if the newest certificate was rejected and the previous one is served.
# TYPE causeway_edge_certificate_refused gauge
causeway_edge_certificate_refused 1
`
	if err := testutil.CollectAndCompare(a, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
