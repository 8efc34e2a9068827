package crash

import "context"

// day ends the day, for everybody's payments, or lets some time pass.
func (t *teller) day(ctx context.Context) error {
	if t.chance(60) {
		return t.do(ctx, t.post(SettlementRun, "/v1/test_helpers/settlement_runs", ""))
	}
	return t.do(ctx, t.post(ClockAdvance, "/v1/test_helpers/clock/advance", `{"seconds":%d}`, pick(t, 60, 3600, 40_000)))
}
