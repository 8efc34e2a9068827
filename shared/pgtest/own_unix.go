//go:build unix

package pgtest

import (
	"context"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest/server"
)

// Server is a server for one test, which can be stopped and continued.
type Server struct{ *server.Server }

// Own starts a server until the end of the test.
func Own(tb testing.TB) *Server {
	tb.Helper()
	started, err := server.Start(context.Background(), settings...)
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{started}
	tb.Cleanup(func() {
		s.signal(syscall.SIGCONT)
		if err := s.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// URL returns the URL of its empty database, with more appended.
func (s *Server) URL(more url.Values) string { return s.Server.URL("postgres", more) }

// Socket is where it listens.
func (s *Server) Socket() string { return filepath.Join(s.Folder(), ".s.PGSQL.5432") }

// Pause stops all of its processes until Resume.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume ends Pause.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

// Kill kills all of its processes at the same time, as a machine that fails does; Again starts it
// once more.
func (s *Server) Kill() {
	pids := s.signal(syscall.SIGSTOP) // a stopped process starts no further process
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for _, pid := range pids {
		for syscall.Kill(pid, 0) == nil { // the next server would treat a process that is not reaped yet as running
			runtime.Gosched()
		}
	}
}

// Halt stops it and cuts its connections; Again starts it once more on the same data.
func (s *Server) Halt(tb testing.TB) {
	tb.Helper()
	if err := s.Server.Halt(context.Background()); err != nil {
		tb.Fatal(err)
	}
}

// Again ends Halt.
func (s *Server) Again(tb testing.TB) {
	tb.Helper()
	if err := s.Serve(context.Background()); err != nil {
		tb.Fatal(err)
	}
}

// signal sends a signal to each of the server's processes, which are not of one group, and returns
// their numbers.
func (s *Server) signal(sig syscall.Signal) (pids []int) {
	for more := true; more; { // until no process has started meanwhile
		more = false
		processes, err := s.Processes()
		if err != nil {
			return pids // it does not run
		}
		for _, p := range processes {
			if !slices.Contains(pids, p.PID) {
				_ = syscall.Kill(p.PID, sig) // a process that has ended needs no signal
				pids, more = append(pids, p.PID), true
			}
		}
	}
	return pids
}
