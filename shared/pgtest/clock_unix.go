//go:build unix

package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// errNoFaketime reports that the library that moves a server's clock is not installed.
var errNoFaketime = errors.New("libfaketime is not installed: on Debian by apt-get install faketime")

// Steered starts a server as Own does, whose clock SetClock moves. Its processes run under libfaketime, which leaves
// the monotonic clock alone, as a step of a machine's clock does.
func Steered(tb testing.TB) *Server {
	tb.Helper()
	found, err := filepath.Glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
	if err == nil && len(found) == 0 {
		err = errNoFaketime
	}
	if err != nil {
		tb.Fatal(err)
	}
	s := Own(tb)
	s.SetClock(tb, 0)
	s.Env = []string{
		"LD_PRELOAD=" + found[0], "FAKETIME_TIMESTAMP_FILE=" + s.clockFile(),
		"FAKETIME_CACHE_DURATION=1", "FAKETIME_DONT_FAKE_MONOTONIC=1",
	}
	if err := s.Server.Halt(context.Background()); err != nil {
		tb.Fatal(err)
	}
	s.Again(tb)
	return s
}

// SetClock sets how far the clock of a server that Steered has started is ahead of the machine's, in whole seconds;
// negative for behind. Each process of the server
// has it within a second.
func (s *Server) SetClock(tb testing.TB, offset time.Duration) {
	tb.Helper()
	text := fmt.Appendf(nil, "%+d\n", offset/time.Second)
	err := os.WriteFile(s.clockFile()+".new", text, 0o644) //nolint:gosec // the server's user reads it
	if err == nil {
		err = os.Rename(s.clockFile()+".new", s.clockFile())
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// Aborted reports whether a process of the server has died by a signal since its start: libfaketime aborts one now and
// then, and commits that did not wait for the disk may be lost with it.
func (s *Server) Aborted(tb testing.TB) bool {
	tb.Helper()
	log, err := os.ReadFile(filepath.Join(s.Folder(), "log"))
	if err != nil {
		tb.Fatal(err)
	}
	return bytes.Contains(log, []byte("was terminated by signal"))
}

func (s *Server) clockFile() string { return filepath.Join(s.Folder(), "clock") }
