package engine_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// MustDie takes a step whose process is killed while it waits for the acquirer, before or after the
// effect. It returns a service that has started on the same store.
func (st step) MustDie(t *testing.T, s *coretest.Service, key string, after bool) *coretest.Service {
	t.Helper()
	txn := st.MustPrepare(t, s)
	var dir string
	lose(s, st.verb, after, func() { dir = s.Snapshot(t) })
	if a, err := st.take(t.Context(), s, s.Request(key), txn); err != nil || a.Status != 504 {
		t.Fatalf("got %d %s, %v, want 504", a.Status, a.Body, err)
	}
	if dir == "" {
		t.Fatal("the acquirer was not asked")
	}
	return s.Revive(t, dir)
}

// wantResponse sends the step again under its key, and checks the response.
func (st step) wantResponse(t *testing.T, s *coretest.Service, status int, replayed bool) []byte {
	t.Helper()
	a, err := st.take(t.Context(), s, s.Request("k"), s.Number(t, "SELECT COALESCE(MAX(id), 0) FROM transactions"))
	if err != nil || a.Status != status || a.Replayed != replayed {
		t.Errorf("the same request again: got %d replayed %t, %v, want %d replayed %t: %s", a.Status, a.Replayed, err, status, replayed, a.Body)
	}
	return a.Body
}

func TestKilledBeforeTheRequestWasSent(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		for _, key := range []string{"", "k"} {
			for mode, open := range modes() {
				t.Run(mode+" "+st.name+" "+key, func(t *testing.T) {
					t.Parallel()
					s := st.MustDie(t, open(t), key, false)
					if got := s.Recover(t); got != 0 {
						t.Fatalf("%d stay open", got)
					}
					switch {
					case !st.authorizes(): // sent again, under the same reference
						st.wantDone(t, s)
						if key != "" {
							st.wantResponse(t, s, st.success, true)
							st.wantDone(t, s)
						}
					case st.attempt > 0: // it has failed, and the key is free
						wantNoEffect(t, s)
					case key != "": // no client has a response, so the step is removed and the key is free
						st.wantUndone(t, s)
						if got := s.Number(t, "SELECT (SELECT COUNT(*) FROM transactions) + (SELECT COUNT(*) FROM idempotency_keys)"); got != 0 {
							t.Errorf("%d rows of the payment stay", got)
						}
						st.wantResponse(t, s, st.success, false)
						st.wantDone(t, s)
					default:
						st.wantUndone(t, s)
						if got, want := s.Texts(t, "SELECT type FROM events"), "transaction.failed"; len(got) != 1 || got[0] != want {
							t.Errorf("events: got %v, want %s", got, want)
						}
						if got := MustTransaction(t, s); got.Status != "failed" || got.Result.FailureCode == "" {
							t.Errorf("got %s %+v, want failed and why", got.Status, got.Result)
						}
					}
					if st.authorizes() && len(s.Acquirer.Calls(coretest.Void)) != 1 {
						t.Error("the payment was not reversed, so it could arrive late")
					}
				})
			}
		}
	}
}

func TestKilledBeforeTheOutcomeWasWritten(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		for _, key := range []string{"", "k"} {
			for mode, open := range modes() {
				t.Run(mode+" "+st.name+" "+key, func(t *testing.T) {
					t.Parallel()
					s := st.MustDie(t, open(t), key, true)
					if got := s.Recover(t); got != 0 {
						t.Fatalf("%d stay open", got)
					}
					st.wantDone(t, s)
					if key != "" {
						first := st.wantResponse(t, s, st.success, true)
						if again := st.wantResponse(t, s, st.success, true); !bytes.Equal(again, first) {
							t.Errorf("got %s, want %s", again, first)
						}
						st.wantDone(t, s)
					}
					if st.authorizes() && len(s.Acquirer.Calls(coretest.Authorize)) != 0 {
						t.Error("the payment was asked for again")
					}
				})
			}
		}
	}
}

func TestKilledWhenTheAcquirerHadDeclined(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		t.Run(st.name, func(t *testing.T) {
			t.Parallel()
			first := coretest.Open(t)
			first.Acquirer.Decide = func(c coretest.Call) string {
				if c.Verb == st.verb {
					return "do_not_honor"
				}
				return ""
			}
			s := st.MustDie(t, first, "k", true)
			if got := s.Recover(t); got != 0 {
				t.Fatalf("%d stay open", got)
			}
			st.wantResponse(t, s, 402, true)
			if got := s.Acquirer.Moved(st.verb); got != 0 {
				t.Errorf("moved: got %d, want nothing", got)
			}
			if st.authorizes() {
				wantSettledBooks(t, s)
				want := payment.Declined
				if st.attempt > 0 { // another confirmation can follow
					want = payment.RequiresConfirmation
				}
				if got := MustTransaction(t, s); got.Status != want || got.Version != 1 || got.Result.DeclineCode != "do_not_honor" {
					t.Errorf("got %s version %d, %s", got.Status, got.Version, got.Result.DeclineCode)
				}
				return
			}
			st.wantUndone(t, s)
		})
	}
}

func TestKilledWhileTheAcquirerIsAway(t *testing.T) {
	t.Parallel()
	for _, away := range []error{acquirer.ErrUnavailable, acquirer.ErrUnknown, context.DeadlineExceeded} {
		for _, st := range steps() {
			t.Run(st.name+" "+away.Error(), func(t *testing.T) {
				t.Parallel()
				s := st.MustDie(t, coretest.Open(t), "k", true)
				s.Acquirer.Before = func(context.Context, coretest.Call) error { return away }
				rows := s.Texts(t, "SELECT status || operation || version || claim FROM transactions")
				for range 2 {
					if got := s.Recover(t); got != 1 {
						t.Fatalf("%d stay open, want 1", got)
					}
				}
				if got, want := strings.Join(s.Texts(t, "SELECT status || operation || version || claim FROM transactions"), ","), strings.Join(rows, ","); got != want {
					t.Errorf("a payment nobody knows of changed: got %s, want %s", got, want)
				}
				heal(s)
				if got := s.Recover(t); got != 0 {
					t.Fatalf("%d stay open once the acquirer is back", got)
				}
				st.wantDone(t, s)
				st.wantResponse(t, s, st.success, true)
			})
		}
	}
}

// TestKilledAfterTheOutcome: a committed outcome, whose response a client may have, is kept and
// only replayed.
func TestKilledAfterTheOutcome(t *testing.T) {
	t.Parallel()
	for _, st := range steps() {
		for mode, open := range modes() {
			t.Run(st.name+" "+mode, func(t *testing.T) {
				t.Parallel()
				first := open(t)
				txn := st.MustPrepare(t, first)
				a, err := st.take(t.Context(), first, first.Request("k"), txn)
				if err != nil || a.Status != st.success {
					t.Fatalf("got %d, %v", a.Status, err)
				}
				s := first.Revive(t, first.Snapshot(t))
				if got := s.Recover(t); got != 0 {
					t.Fatalf("%d are open", got)
				}
				if got := st.wantResponse(t, s, st.success, true); !bytes.Equal(got, a.Body) {
					t.Errorf("got %s, want %s", got, a.Body)
				}
				st.wantDone(t, s)
				if calls := s.Acquirer.Calls(st.verb); len(calls) != 0 {
					t.Errorf("asked again: %v", calls)
				}
			})
		}
	}
}
