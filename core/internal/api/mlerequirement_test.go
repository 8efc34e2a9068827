package api_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const requirements = "/v1/mle/requirements"

// TestMLERequirements announces a requirement. Anyone can read it without a key, each merchant gets
// an event in each mode, and a withdrawal ends it.
func TestMLERequirements(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	list := func() []v1.MLERequirement {
		b.clock.Advance(time.Second) // the list is cached for so long
		return MustDecode[v1.MLERequirementList](t, b.get(t, requirements, header("Authorization")), 200).Data
	}
	if got := list(); len(got) != 0 {
		t.Fatalf("got %+v, want none", got)
	}
	effective := b.clock.Now().Add(payment.MLENotice + time.Hour)
	endpoints := []string{"POST /v1/tokens", "POST /v1/transactions/{id}/confirm"}
	var notice *payment.MLENoticeError
	_, err := b.core.Admin().AnnounceMLERequirement(t.Context(), endpoints, effective.Add(-2*time.Hour))
	if !errors.As(err, &notice) {
		t.Errorf("early: got %v, want an MLENoticeError", err)
	}
	made, err := b.core.Admin().AnnounceMLERequirement(t.Context(), endpoints, effective)
	if err != nil {
		t.Fatal(err)
	}
	got := list()
	if len(got) != 1 || got[0].ID != made || strings.Join(got[0].Endpoints, "|") != strings.Join(endpoints, "|") ||
		!got[0].EffectiveAt.Equal(effective.Truncate(time.Millisecond)) || got[0].WithdrawnAt != nil {
		t.Errorf("got %+v", got)
	}
	p.wake(t, "rot-a")
	b.wantRequirementEvents(t, v1.EventTypeMleRequirementAnnounced, made, false)
	if err := b.core.Admin().WithdrawMLERequirement(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	if got := list(); len(got) != 0 {
		t.Errorf("got %+v, want none after the withdrawal", got)
	}
	p.wake(t, "rot-b")
	b.wantRequirementEvents(t, v1.EventTypeMleRequirementWithdrawn, made, true)
	wantRefusal(t, b.post(t, requirements, ""), refusal{405, v1.ErrorTypeInvalidRequestError, "method_not_allowed", ""})
	wantRefusal(t, b.get(t, requirements+"?limit=1"), refusal{400, v1.ErrorTypeInvalidRequestError, "unknown_parameter", "limit"})
}

// wantRequirementEvents checks the events of a requirement: one in each mode.
func (b *bundle) wantRequirementEvents(t *testing.T, kind v1.EventType, requirement string, withdrawn bool) {
	t.Helper()
	if n := b.countEvents(t, string(kind)); n != 2 {
		t.Errorf("%s: got %d events, want one in each mode", kind, n)
	}
	for _, e := range b.listEvents(t, "type="+string(kind)) {
		object := string(e.Data.Object)
		if !strings.Contains(object, `"object":"mle_requirement","id":"`+requirement+`"`) ||
			strings.Contains(object, `"withdrawn_at"`) != withdrawn {
			t.Errorf("got %s", object)
		}
	}
}

// wake makes core write the events of all broadcasts, by another broadcast.
func (p port) wake(t *testing.T, name string) {
	t.Helper()
	body := strings.Replace(rotated, `"name":"rot-1"`, `"name":"`+name+`"`, 1)
	MustDecode[operator.Broadcast](t, p.post(t, broadcasts, body), 201)
	p.finished(t, body)
}
