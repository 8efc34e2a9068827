package api_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const stepsOf = operator.Root + "/steps"

// TestOperatorResolvesAStep: an operator lists, shows and ends a pending reversal over HTTP. A
// wrong outcome and a missing reason change nothing, and the action is one audit record.
func TestOperatorResolvesAStep(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: -1, token: token, catalogue: MustHurryCatalogue(t, 20*time.Millisecond)})
	p := openPort(t, b)
	if got := MustDecode[operator.StepList](t, p.get(t, stepsOf), 200); len(got.Data) != 0 || got.HasMore {
		t.Errorf("at first: got %+v, want none", got)
	}
	lost := wantRefusal(t, b.post(t, "/v1/transactions", create1("pm_card_timeout_before_effect", "")),
		refusal{504, v1.ErrorTypeAPIError, "outcome_unknown", ""}).Transaction.ID
	b.clock.Advance(time.Second)
	b.resolved(t, lost)
	list := MustDecode[operator.StepList](t, p.get(t, stepsOf+"?kind=reversal&merchant="+b.merchant+"&limit=1"), 200)
	if len(list.Data) != 1 || list.Data[0].Transaction != lost || list.Data[0].Amount != 1 || list.Data[0].Kind != "reversal" {
		t.Fatalf("got %+v, want the reversal of %s", list, lost)
	}
	if got := MustDecode[operator.StepList](t, p.get(t, stepsOf+"?kind=credit"), 200); len(got.Data) != 0 {
		t.Errorf("unlinked refunds: got %+v, want none", got)
	}
	path := stepsOf + "/" + encoded(list.Data[0].ID)
	if got := MustDecode[operator.UnfinishedStep](t, p.get(t, path), 200); got.ID != list.Data[0].ID || got.Merchant != b.merchant || got.Mode != v1.ModeTest {
		t.Errorf("got %+v", got)
	}
	if got := MustDecode[operator.StepList](t, p.get(t, stepsOf+"?starting_after="+list.Data[0].ID), 200); len(got.Data) != 0 {
		t.Errorf("behind it: got %+v, want none", got)
	}
	wantResolutionsRefused(t, p, path, stepsOf+"/"+lost)
	var done operator.UnfinishedStep
	programtest.WaitFor(t, "the step is resolved", func() bool { // an attempt of recovery may be in progress
		r := p.post(t, path+"/resolve", `{"outcome":"released",`+reason+`}`, keyed("r"))
		if r.status == 409 {
			return false
		}
		done = MustDecode[operator.UnfinishedStep](t, r, 200)
		return true
	})
	if done.Outcome != "released" || done.Reason != "statement of November 22, line 7" {
		t.Errorf("resolved: got %+v", done)
	}
	if again := MustDecode[operator.UnfinishedStep](t, p.post(t, path+"/resolve", `{"outcome":"released",`+reason+`}`, keyed("r")), 200); again.ID != done.ID {
		t.Errorf("the same request again: got %+v", again)
	}
	wantRefusal(t, p.get(t, path), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
	if got := b.number(t, `SELECT COUNT(*) FROM audit_records WHERE action = 'steps.resolve' AND outcome = 'done' AND state_after LIKE '%line 7%'`); got != 1 {
		t.Errorf("audit records: got %d, want 1", got)
	}
	for query, param := range map[string]string{"kind=x": "kind", "merchant=x": "merchant", "limit=0": "limit"} {
		wantRefusal(t, p.get(t, stepsOf+"?"+query), invalid("invalid_value", param))
	}
}

const reason = `"reason":"statement of November 22, line 7"`

// wantResolutionsRefused checks the refusals of a resolution, for the path of a pending reversal
// and of a step that has ended.
func wantResolutionsRefused(t *testing.T, p port, path, ended string) {
	t.Helper()
	const approval = `{"outcome":"approved","as_of":"2026-11-22T14:05:00Z",` + reason + `}`
	wantRefusal(t, p.post(t, path+"/resolve", approval), invalid("invalid_value", "outcome"))
	wantRefusal(t, p.post(t, ended+"/resolve", approval), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
	for _, body := range []string{`{"outcome":"released","acquirer_id":"1",`, `{"outcome":"approved","acquirer_id":"a/b",`} {
		wantRefusal(t, p.post(t, path+"/resolve", body+reason+`}`), invalid("invalid_value", "acquirer_id"))
	}
	for _, body := range []string{`{"outcome":"approved",`, `{"outcome":"declined","as_of":"2026-11-22T14:05:00Z",`} {
		wantRefusal(t, p.post(t, path+"/resolve", body+reason+`}`), invalid("invalid_value", "as_of"))
	}
}
