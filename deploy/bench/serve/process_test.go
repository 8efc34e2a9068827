package serve_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench/serve"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// start runs a shell script.
func start(t *testing.T, script string) *serve.Process {
	t.Helper()
	p, err := serve.Start(t.Context(), nil, filepath.Join(t.TempDir(), "log"), "/bin/sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

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
			p := start(t, c.script)
			line, err := p.Line(t.Context())
			if want := "ready"; err != nil || line != want {
				t.Errorf("got %q %v, want %q", line, err, want)
			}
			if err := p.Stop(); (err == nil) != c.ok {
				t.Errorf("stop: got %v, want ok %t", err, c.ok)
			}
		})
	}
}

func TestLineOfAProgramThatEnded(t *testing.T) {
	t.Parallel()
	p := start(t, `exit 1`)
	if line, err := p.Line(t.Context()); err == nil {
		t.Errorf("got %q and no error", line)
	}
	if err := p.Stop(); err == nil {
		t.Error("stop: got no error from a program that had failed")
	}
}

func TestStandardErrorIsInTheLog(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	p, err := serve.Start(t.Context(), nil, log, "/bin/sh", "-c", `echo said >&2; echo ready; exec sleep 60`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Line(t.Context()); err != nil {
		t.Error(err)
	}
	if runtime.GOOS == "linux" {
		// While the shell becomes sleep, the process has no memory.
		programtest.WaitFor(t, "the process has resident memory", func() bool {
			n, err := p.PeakMemory()
			return err == nil && n > 0
		})
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	got, err := os.ReadFile(log)
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
	p := start(t, `echo ready; while :; do :; done`)
	first, err := p.CPU()
	if err != nil {
		t.Fatal(err)
	}
	programtest.WaitFor(t, "the processor time has grown", func() bool {
		now, err := p.CPU()
		return err == nil && now > first+50*time.Millisecond
	})
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}
