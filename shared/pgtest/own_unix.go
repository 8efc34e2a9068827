//go:build unix

package pgtest

import (
	"bytes"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Server is one test's own, which may be stopped and go on.
type Server struct{ server }

// Own starts a server that is gone when the test ends.
func Own(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{}
	tb.Cleanup(func() {
		s.signal(syscall.SIGCONT)
		if err := s.stop(); err != nil {
			tb.Error(err)
		}
	})
	if s.start(); s.err != nil {
		tb.Fatal(s.err)
	}
	return s
}

// URL is its empty database's; more is added to it.
func (s *Server) URL(more url.Values) string { return s.url(more) }

// Socket is where it listens.
func (s *Server) Socket() string { return filepath.Join(s.dir, ".s.PGSQL.5432") }

// Pause has all of its processes stand still; Resume goes on.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume ends Pause.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

// Halt stops it and cuts its connections; Again starts it once more on the same data.
func (s *Server) Halt(tb testing.TB) {
	tb.Helper()
	if err := s.run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", filepath.Join(s.dir, "data")); err != nil {
		tb.Fatal(err)
	}
}

// Again ends Halt.
func (s *Server) Again(tb testing.TB) {
	tb.Helper()
	if err := s.serve(); err != nil {
		tb.Fatal(err)
	}
}

// signal sends a signal to the server and to each of its processes, which are not of one group.
func (s *Server) signal(sig syscall.Signal) {
	text, err := os.ReadFile(filepath.Join(s.dir, "data", "postmaster.pid"))
	if err != nil {
		return // it does not run
	}
	first, _, _ := bytes.Cut(text, []byte{'\n'})
	parent, err := strconv.Atoi(string(first))
	if err != nil {
		return
	}
	errs := []error{syscall.Kill(parent, sig)}
	processes, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range processes {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			errs = append(errs, syscall.Kill(pid, sig))
		}
	}
	_ = errors.Join(errs...) // a process that has ended needs none
}

// serve starts the server on its data.
func (s *server) serve() error {
	return s.run("pg_ctl", "start", "-w", "-D", filepath.Join(s.dir, "data"), "-l", filepath.Join(s.dir, "log"),
		"-o", "-k "+s.dir+" -c listen_addresses= -c fsync=off -c max_connections=300")
}
