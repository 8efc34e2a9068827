package acquirer

import (
	"context"
	"errors"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

// Reporter reports the settlement of payments. The connectors of live mode are Reporters. The
// simulator is none: the end of the merchant's day settles its captures.
type Reporter interface {
	// Settled returns the settlement of captures and sales, one for each, in their order. It moves
	// nothing. The Amount of a Sent is the captured amount. With an error, a report that was not read
	// is the zero Settlement.
	Settled(ctx context.Context, of []Sent) ([]Settlement, error)
}

// Settlement is the report of an acquirer about one capture or sale.
type Settlement struct {
	State  SettlementState
	Reason string // the acquirer's word, at most 64 printable ASCII characters; "" for none
}

// SettlementState is the state of a capture or sale in an acquirer's reports.
type SettlementState string

// The states.
const (
	Unreported       SettlementState = ""        // it may still settle, or the acquirer does not have it
	Settled          SettlementState = "settled" // the acquirer took the money
	SettlementFailed SettlementState = "failed"  // the acquirer will not take the money, or not this amount
)

// ReportOperation is the name of a request for reports in traces and metrics.
const ReportOperation = "report"

// ReportOutcomes returns the outcomes of a request for reports.
func ReportOutcomes() []string { return []string{"reported", "unavailable", "unknown"} }

// ObservedReporter returns r with a span for every request, unless the tracer is nil. It reports
// each request to an observer when it has ended.
func ObservedReporter(
	r Reporter, t *telemetry.Tracer, c clock.Clock, observe func(outcome string, took time.Duration),
) Reporter {
	return &observedReporter{r, t, c, observe}
}

type observedReporter struct {
	next    Reporter
	tracer  *telemetry.Tracer
	clock   clock.Clock
	observe func(outcome string, took time.Duration)
}

// Settled implements Reporter.
func (r *observedReporter) Settled(ctx context.Context, of []Sent) ([]Settlement, error) {
	start := r.clock.Now()
	ctx, span := r.tracer.Client(ctx, "acquirer "+ReportOperation)
	defer span.End()
	reports, err := r.next.Settled(ctx, of)
	outcome := "reported"
	if err != nil {
		outcome = "unknown"
		if errors.Is(err, ErrUnavailable) {
			outcome = "unavailable"
		}
		span.Fail(outcome)
	}
	span.Word(telemetry.Outcome, outcome)
	r.observe(outcome, r.clock.Now().Sub(start))
	return reports, err
}
