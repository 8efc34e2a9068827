package sqlite_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestABatchHasOneBulkCommand: bulk commands of several merchants wait while others commit. Each
// batch has one of them, so the commands of others wait for one in each batch.
func TestABatchHasOneBulkCommand(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var order []string // all appends are of the writer's goroutine
	b.db.Observe(func(store.Batch) { order = append(order, "commit") }, func(err error) { t.Error(err) })
	release := b.block(t)
	run := func(merchant int64, name string) <-chan error {
		done := make(chan error, 1)
		c := store.Caller{Tenant: payment.Tenant{Merchant: merchant, Live: true}, Bulk: true}
		go func() {
			done <- b.db.UpdateOf(context.Background(), c, func(*store.Tx) error { order = append(order, name); return nil })
		}()
		return done
	}
	bulk := []<-chan error{run(1, "bulk")}
	for b.db.Waiting() != 1 {
		runtime.Gosched()
	}
	for merchant := range int64(3) {
		bulk = append(bulk, run(2+merchant, "bulk"))
	}
	for b.db.Waiting() != 4 {
		runtime.Gosched()
	}
	plain := []<-chan error{}
	for range 3 {
		plain = append(plain, b.queue(func(*store.Tx) error { order = append(order, "plain"); return nil }))
	}
	release()
	for _, done := range slices.Concat(bulk, plain) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if err := b.db.Close(); err != nil { // behind the last callback
		t.Fatal(err)
	}
	want := []string{
		"commit", "bulk", "plain", "plain", "plain", "commit", "bulk", "commit", "bulk", "commit", "bulk", "commit",
	}
	if !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
}

// TestBulkCommandOfAnEndedRequest: a bulk command whose request ends before its turn is withdrawn.
func TestBulkCommandOfAnEndedRequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	c := store.Caller{Tenant: payment.Tenant{Merchant: 1, Live: true}, Bulk: true}
	first := make(chan error, 1)
	go func() { first <- b.db.UpdateOf(context.Background(), c, func(*store.Tx) error { return nil }) }()
	for b.db.Waiting() != 1 {
		runtime.Gosched()
	}
	ctx, end := context.WithCancel(t.Context())
	second := make(chan error, 1)
	go func() {
		second <- b.db.UpdateOf(ctx, c, func(*store.Tx) error { t.Error("it has run"); return nil })
	}()
	for b.db.Waiting() != 2 {
		runtime.Gosched()
	}
	end()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	release()
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// bulkOf begins a bulk command of a tenant, and returns when it waits behind n others.
func (b *bundle) bulkOf(ctx context.Context, n int, of payment.Tenant, fn func(*store.Tx) error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- b.db.UpdateOf(ctx, store.Caller{Tenant: of, Bulk: true}, fn) }()
	for b.db.Waiting() != n+1 {
		runtime.Gosched()
	}
	return done
}

// TestBackgroundBesideBulkCommands: a merchant with as many bulk commands as may wait refuses its
// next one. Bulk commands of background work need no turn of a client.
func TestBackgroundBesideBulkCommands(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	merchant := payment.Tenant{Merchant: 1}
	const most = 65 // one with its turn, and 64 that wait
	var all []<-chan error
	for n := range most {
		all = append(all, b.bulkOf(context.Background(), n, merchant, func(*store.Tx) error { return nil }))
	}
	err := b.db.UpdateOf(t.Context(), store.Caller{Tenant: merchant, Bulk: true}, func(*store.Tx) error { return nil })
	if !errors.Is(err, payment.ErrTooManyChanges) {
		t.Errorf("of the client: got %v, want %v", err, payment.ErrTooManyChanges)
	}
	settled := make(chan error, 1)
	go func() {
		settled <- b.db.UpdateOf(store.InBackground(context.Background()), store.Caller{Tenant: merchant, Bulk: true},
			func(*store.Tx) error { return nil })
	}()
	release()
	if err := <-settled; err != nil {
		t.Errorf("of background work: %v", err)
	}
	for _, done := range all {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestBulkCommandsOfBothModes: a merchant whose bulk commands follow each other in live mode leaves
// turns to test mode.
func TestBulkCommandsOfBothModes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	release := b.block(t)
	var order []string // all appends are of the writer's goroutine
	var all []<-chan error
	for n, c := range []struct {
		name string
		of   payment.Tenant
	}{
		{"live", payment.Tenant{Merchant: 1, Live: true}},
		{"live", payment.Tenant{Merchant: 1, Live: true}},
		{"live", payment.Tenant{Merchant: 1, Live: true}},
		{"test", payment.Tenant{Merchant: 2}},
	} {
		all = append(all, b.bulkOf(context.Background(), n, c.of, func(*store.Tx) error {
			order = append(order, c.name)
			return nil
		}))
	}
	release()
	for _, done := range all {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if want := []string{"live", "test", "live", "live"}; !slices.Equal(order, want) {
		t.Errorf("got %q, want %q", order, want)
	}
}
