package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// require inserts the requirement 1.
func (b *bundle) require(t *testing.T, effective time.Time) (payment.MLERequirement, error) {
	t.Helper()
	r := payment.MLERequirement{ID: 1, Endpoints: []string{"POST /v1/tokens", "POST /v1/x"}, EffectiveAt: effective}
	err := b.db.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertMLERequirement(&r) })
	return r, err
}

// requirements returns all requirements.
func (b *bundle) requirements(t *testing.T) []*payment.MLERequirement {
	t.Helper()
	all, err := b.db.MLERequirements(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestMLERequirement announces and withdraws requirements. A date before the end of the notice is
// refused.
func TestMLERequirement(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := birth.UTC().Truncate(time.Millisecond)
	earliest := now.Add(payment.MLENotice)
	var notice *payment.MLENoticeError
	_, err := b.require(t, earliest.Add(-time.Millisecond))
	if !errors.As(err, &notice) || !notice.Earliest.Equal(earliest) {
		t.Errorf("a millisecond early: got %v, want a date from %s", err, earliest)
	}
	made, err := b.require(t, earliest)
	if err != nil || !made.AnnouncedAt.Equal(now) {
		t.Fatalf("got %+v, %v", made, err)
	}
	if _, err := b.require(t, earliest); !errors.Is(err, store.ErrDuplicate) {
		t.Errorf("the same id: got %v, want ErrDuplicate", err)
	}
	all := b.requirements(t)
	if len(all) != 1 || !slices.Equal(all[0].Endpoints, made.Endpoints) || !all[0].AnnouncedAt.Equal(now) ||
		!all[0].EffectiveAt.Equal(earliest) || !all[0].WithdrawnAt.IsZero() {
		t.Fatalf("got %+v", all)
	}
	for range 2 { // the second time changes nothing
		b.MustUpdate(t, func(tx *store.Tx) error {
			_, after, err := tx.WithdrawMLERequirement(1)
			if err == nil && !after.WithdrawnAt.Equal(now) {
				t.Errorf("got %+v, want it withdrawn at %s", after, now)
			}
			return err
		})
		b.clock.Advance(time.Hour)
	}
	if got := b.requirements(t); len(got) != 1 || !got[0].WithdrawnAt.Equal(now) {
		t.Errorf("got %+v, want it withdrawn", got)
	}
	err = b.db.Update(t.Context(), func(tx *store.Tx) error { _, _, err := tx.WithdrawMLERequirement(2); return err })
	if !errors.Is(err, payment.ErrNotFound) {
		t.Errorf("another: got %v, want ErrNotFound", err)
	}
}

// TestMLENoticeAfterTheClockWasSetBack: a clock that is set back does not make the announcement
// earlier, in one process or between two.
func TestMLENoticeAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := b.db.KeepConfirmed(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.clock.Advance(2 * time.Hour)
	if err := b.db.KeepConfirmed(t.Context()); err != nil {
		t.Fatal(err)
	}
	right := birth.Add(2 * time.Hour).Truncate(time.Millisecond)
	b.clock.Step(-30 * 24 * time.Hour)
	for _, process := range []string{"the same process", "the next process"} {
		if process != "the same process" {
			b.db = b.MustOpen(t)
		}
		var notice *payment.MLENoticeError
		_, err := b.require(t, right.Add(payment.MLENotice-time.Minute))
		if !errors.As(err, &notice) || notice.Earliest.Before(right.Add(payment.MLENotice)) {
			t.Errorf("%s: got %v, want a date from %s", process, err, right.Add(payment.MLENotice))
		}
	}
	if made, err := b.require(t, right.Add(payment.MLENotice)); err != nil || made.AnnouncedAt.Before(right) {
		t.Errorf("got %+v, %v", made, err)
	}
}
