package engine_test

import (
	"context"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// refundUndoing is an acquirer that undoes a repeated refund by its reference, and then reports
// that the refund has no effect. Of several refunds with one reference it finds the first.
type refundUndoing struct {
	*coretest.Acquirer

	mu      sync.Mutex
	refused int               // so many first requests are not sent, and each repeated one is only searched for
	away    int               // so many repeated requests are not sent
	lost    int               // the responses to so many first requests are lost
	arrives bool              // the requests of these responses have an effect
	sent    []acquirer.Follow // first requests
	moved   map[string]int    // refunds with an effect, by reference
	undone  map[string]bool   // references whose first refund was undone
}

func (u *refundUndoing) Refund(_ context.Context, r acquirer.Follow) (acquirer.Response, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if r.Again && u.away > 0 {
		u.away--
		return acquirer.Response{}, acquirer.ErrUnavailable
	}
	if r.Again && u.refused > 0 {
		return acquirer.Response{}, acquirer.ErrNotListed
	}
	if r.Again {
		u.undone[r.Reference] = u.moved[r.Reference] > 0
		return acquirer.Response{}, acquirer.ErrNotFound
	}
	u.sent = append(u.sent, r)
	if len(u.sent) <= u.refused {
		return acquirer.Response{}, acquirer.ErrUnavailable
	}
	lost := len(u.sent) <= u.lost
	if !lost || u.arrives {
		u.moved[r.Reference]++
	}
	if lost {
		return acquirer.Response{}, acquirer.ErrUnknown
	}
	return acquirer.Response{Approved: true, ResponseCode: "00", Amount: r.Amount}, nil
}

// standing returns the number of refunds that were not undone.
func (u *refundUndoing) standing() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := 0
	for reference, moved := range u.moved {
		n += moved
		if u.undone[reference] {
			n--
		}
	}
	return n
}

func (u *refundUndoing) Account(context.Context, int64, int64) (acquirer.Account, error) {
	return acquirer.Account{ID: coretest.LiveAccount, Acquirer: u}, nil
}

func (u *refundUndoing) ForPayment(context.Context, int64, string, acquirer.Method) ([]acquirer.Account, error) {
	return []acquirer.Account{{ID: coretest.LiveAccount, Acquirer: u}}, nil
}

// TestReleaseByRefundIsSentOnce: refunds that release a late sale are lost, with or without an
// effect, or not sent. Each further refund has another reference and another tag, and one refund
// stands.
func TestReleaseByRefundIsSentOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*refundUndoing{
		"the request is lost":     {lost: 3},
		"the response is lost":    {lost: 3, arrives: true},
		"the request is not sent": {refused: 3},
		"the retry is not sent":   {lost: 3, arrives: true, away: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := coretest.OpenLive(t)
			u := &refundUndoing{
				Acquirer: s.Acquirer, refused: c.refused, away: c.away, lost: c.lost, arrives: c.arrives,
				moved: map[string]int{}, undone: map[string]bool{},
			}
			s.Engine.Live = u
			lose(s, coretest.Authorize, false, nil)
			if a, err := s.Pay(t.Context(), s.Request(""), 100, true); err != nil || a.Status != 504 {
				t.Fatalf("got %d %s, %v", a.Status, a.Body, err)
			}
			heal(s)
			s.Recover(t)
			s.Acquirer.Arrive(s.Acquirer.Payments()[0])
			refusesVoids(s)
			lookUntilTheEnd(t, s)
			if got := u.standing(); got != 1 {
				t.Errorf("%d refunds of one payment stand, want 1", got)
			}
			references, tags := map[string]bool{}, map[string]bool{}
			for _, r := range u.sent {
				references[r.Reference], tags[r.Tag] = true, true
			}
			if len(u.sent) != 4 || len(references) != 4 || len(tags) != 4 {
				t.Errorf("got %d refunds with %d references and %d tags, want 4", len(u.sent), len(references), len(tags))
			}
		})
	}
}
