//go:build unix

package pgtest

import (
	"context"
	_ "embed"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

//go:embed clock/steered.c
var steeredClock []byte

// Steered starts a server like Own. SetClock moves its wall clock. Its processes load a library
// that replaces the C library's clock functions. The monotonic clock stays, as at a step of a
// machine's clock. It needs a C compiler, cc.
func Steered(tb testing.TB) *Server {
	tb.Helper()
	s := Own(tb)
	source, library := filepath.Join(s.Folder(), "clock.c"), filepath.Join(s.Folder(), "clock.so")
	if err := os.WriteFile(source, steeredClock, 0o600); err != nil {
		tb.Fatal(err)
	}
	compiler := exec.CommandContext(tb.Context(), "cc", //nolint:gosec // our own paths
		"-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", library, source)
	if out, err := compiler.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %v\n%s", compiler.Args, err, out)
	}
	s.SetClock(tb, 0)
	s.Env = []string{"LD_PRELOAD=" + library, "STEERED_CLOCK=" + s.clockFile()}
	if err := s.Server.Halt(context.Background()); err != nil {
		tb.Fatal(err)
	}
	s.Again(tb)
	return s
}

// SetClock sets how far the wall clock of a server that Steered has started is ahead of the
// machine's, in whole seconds; negative for behind. All processes of the server see the change
// immediately.
func (s *Server) SetClock(tb testing.TB, offset time.Duration) {
	tb.Helper()
	file, err := os.OpenFile(s.clockFile(), os.O_WRONLY|os.O_CREATE, 0o644) //nolint:gosec // the server's user reads it
	if err != nil {
		tb.Fatal(err)
	}
	// In place: it is mapped.
	err = binary.Write(file, binary.NativeEndian, int64(offset/time.Second))
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		tb.Fatal(err)
	}
}

func (s *Server) clockFile() string { return filepath.Join(s.Folder(), "clock") }
