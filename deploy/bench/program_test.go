package bench_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench"
	"github.com/causeway-pay/causeway/shared/programtest"
)

func TestStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		ok     bool
	}{
		"dies of it":    {`echo ready; exec sleep 60`, true},
		"ends itself":   {`trap 'kill $!; exit 0' TERM; sleep 60 & echo ready; wait`, true},
		"ends in error": {`trap 'kill $!; exit 3' TERM; sleep 60 & echo ready; wait`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			err := b.Scope(func() {
				line, err := b.Script(c.script).Line(t.Context())
				if want := "ready"; err != nil || line != want {
					t.Errorf("got %q %v, want %q", line, err, want)
				}
			})
			if (err == nil) != c.ok {
				t.Errorf("stop: got %v, want ok %t", err, c.ok)
			}
		})
	}
}

func TestLineOfAProgramThatEnded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	err := b.Scope(func() {
		if line, err := b.Script(`exit 1`).Line(t.Context()); err == nil {
			t.Errorf("got %q and no error", line)
		}
	})
	if err == nil {
		t.Error("stop: got no error from a program that had failed")
	}
}

func TestStandardErrorIsInTheLog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	err := b.Scope(func() {
		p := b.Script(`echo said >&2; echo ready; exec sleep 60`)
		if _, err := p.Line(t.Context()); err != nil {
			t.Error(err)
		}
		if runtime.GOOS == "linux" {
			// While the shell becomes sleep, the process has no memory.
			programtest.WaitFor(t, "the process has resident memory", func() bool {
				var n uint64
				err := b.Scope(func() { n = p.PeakMemory() })
				return err == nil && n > 0
			})
		}
	})
	if err != nil {
		t.Error(err)
	}
	got, err := os.ReadFile(filepath.Join(b.Dir, "sh-1.log"))
	if want := "said\n"; err != nil || string(got) != want {
		t.Errorf("got %q %v, want %q", got, err, want)
	}
}

// TestCPU: the processor time of a program that computes grows.
func TestCPU(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		return // it has no /proc
	}
	b := newBench(t)
	err := b.Scope(func() {
		p := b.Script(`echo ready; while :; do :; done`)
		first := p.CPU()
		programtest.WaitFor(t, "the processor time has grown", func() bool {
			return p.CPU() > first+50*time.Millisecond
		})
	})
	if err != nil {
		t.Error(err)
	}
}

// TestScope: cleanups run after a failure, the last one first. All failures are returned, and the
// outer scope has none of them.
func TestScope(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first, second, third := errors.New("first"), errors.New("second"), errors.New("third")
	var order []string
	outer := b.Scope(func() {
		b.Cleanup(func() { order = append(order, "outer") })
		err := b.Scope(func() {
			b.Cleanup(func() { order = append(order, "inner"); bench.Check(third) })
			b.Cleanup(func() { b.Errorf("close: %w", second) })
			bench.Check(nil)
			bench.Check(first)
			order = append(order, "after the failure")
		})
		for _, want := range []error{first, second, third} {
			if !errors.Is(err, want) {
				t.Errorf("got %v, want %v in it", err, want)
			}
		}
		if b.Failed() {
			t.Error("the outer scope has failed")
		}
	})
	if want := []string{"inner", "outer"}; outer != nil || !slices.Equal(order, want) {
		t.Errorf("got %v, %q, want %q", outer, order, want)
	}
}
