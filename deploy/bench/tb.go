package bench

import (
	"context"
	"errors"
	"fmt"
)

// The methods below replace all methods of testing.TB that the harness of the tests calls.

// Helper implements testing.TB.
func (*Bench) Helper() {}

// Context implements testing.TB. The context ends with the run.
func (b *Bench) Context() context.Context { return b.ctx }

// Cleanup implements testing.TB: f runs at the end of the scope.
func (b *Bench) Cleanup(f func()) { b.cleanups = append(b.cleanups, f) }

// Failed implements testing.TB. It reports whether the scope has failed.
func (b *Bench) Failed() bool { return len(b.failures) > 0 }

// Logf implements testing.TB.
func (b *Bench) Logf(format string, args ...any) {
	_, _ = fmt.Fprintf(b.Progress, format+"\n", args...) // progress that cannot be shown is not a reason to stop
}

// Errorf implements testing.TB.
func (b *Bench) Errorf(format string, args ...any) {
	b.failures = append(b.failures, fmt.Errorf(format, args...))
}

// Fatal implements testing.TB.
func (b *Bench) Fatal(args ...any) { check(errors.New(fmt.Sprint(args...))) }

// Fatalf implements testing.TB.
func (b *Bench) Fatalf(format string, args ...any) { check(fmt.Errorf(format, args...)) }

// failure is the panic that ends a scope.
type failure struct{ error }

// check ends the scope if err is not nil. Only the goroutine of the scope may call it.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// must is check, and returns the value.
func must[T any](value T, err error) T {
	check(err)
	return value
}

// scope runs fn and then the functions that fn has left to Cleanup, the last one first. It returns
// the failures of all of them.
func (b *Bench) scope(fn func()) error {
	cleanups, failures := b.cleanups, b.failures
	b.cleanups, b.failures = nil, nil
	b.try(fn)
	for last := len(b.cleanups) - 1; last >= 0; last-- {
		b.try(b.cleanups[last])
	}
	err := errors.Join(b.failures...)
	b.cleanups, b.failures = cleanups, failures
	return err
}

// within is scope, and ends the outer scope if fn failed.
func (b *Bench) within(fn func()) { check(b.scope(fn)) }

// try runs fn, and records the failure that ended it.
func (b *Bench) try(fn func()) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case failure:
			b.failures = append(b.failures, end.error)
		default:
			panic(end)
		}
	}()
	fn()
}
