package server

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
)

// Server is a running PostgreSQL server in a private folder, without a port. Clients reach it by a
// socket in that folder.
type Server struct {
	Env []string // more for the server's environment, as NAME=value, from the next Serve on

	dir      string
	settings []string
	release  func() error // ends the guard
}

// Start makes a folder, and a server in it with such settings as "max_connections=300".
func Start(ctx context.Context, settings ...string) (*Server, error) {
	dir, err := os.MkdirTemp("", "pg") // a socket's path must be short
	if err != nil {
		return nil, fmt.Errorf("folder of the server: %w", err)
	}
	s := &Server{dir: dir, settings: settings}
	err = errors.Join(
		Give(dir),
		s.run(ctx, "initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C"),
	)
	if err == nil {
		err = s.watch(ctx)
	}
	if err == nil {
		err = s.Serve(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.unwatch(), os.RemoveAll(dir))
	}
	return s, nil
}

// guard stops the server when the process that started it has ended. It notices that by its
// standard input, whose other end only that process has. pg_ctl detaches the server, so nothing
// else would stop it. The guard outlives the signals of a terminal.
const guard = `trap '' HUP INT TERM; read -r _; exec "$0" stop -m immediate -D "$1"`

// watch starts the guard.
func (s *Server) watch(ctx context.Context) error {
	path, err := Find("pg_ctl")
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	cmd := exec.CommandContext(ctx, "sh", "-c", guard, path, s.data()) //nolint:gosec // our own arguments
	cmd.Dir = s.dir
	AsServer(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("guard of the server: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("guard of the server: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it fails if the server has been stopped before
	}()
	s.release = func() error {
		err := in.Close()
		<-ended
		return err
	}
	return nil
}

// unwatch ends the guard, which stops the server if it runs.
func (s *Server) unwatch() error {
	if s.release == nil {
		return nil
	}
	return s.release()
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Folder is where its socket is, as PGHOST names it.
func (s *Server) Folder() string { return s.dir }

// URL returns the URL of a database of the server, with more parameters.
func (s *Server) URL(database string, more url.Values) string {
	q := url.Values{"host": {s.dir}, "user": {"postgres"}, "sslmode": {"disable"}}
	for k, v := range more {
		q[k] = v
	}
	return "postgres:///" + database + "?" + q.Encode()
}

// Serve starts the halted server on its data.
func (s *Server) Serve(ctx context.Context) error {
	options := "-k " + s.dir + " -c listen_addresses="
	for _, setting := range s.settings {
		options += " -c " + setting
	}
	return s.run(ctx, "pg_ctl", "start", "-w", "-D", s.data(), "-l", filepath.Join(s.dir, "log"), "-o", options)
}

// Halt stops it as a crash would, and cuts its connections.
func (s *Server) Halt(ctx context.Context) error {
	return s.run(ctx, "pg_ctl", "stop", "-w", "-m", "immediate", "-D", s.data())
}

// Stop halts it and removes its folder.
func (s *Server) Stop() error {
	return errors.Join(s.Halt(context.Background()), s.unwatch(), os.RemoveAll(s.dir))
}

// run runs a program of PostgreSQL as a user other than root: the server refuses root.
func (s *Server) run(ctx context.Context, name string, args ...string) error {
	path, err := Find(name)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // the arguments are our own
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), s.Env...)
	AsServer(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "log")) // perhaps it contains the reason
		return fmt.Errorf("%s: %w\n%s%s", name, err, out, log[max(0, len(log)-1<<10):])
	}
	return nil
}

// Find looks for a program of PostgreSQL, which Debian does not put on PATH.
func Find(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("there is no %s: install PostgreSQL, on Debian by apt-get install postgresql", name)
	}
	if err != nil {
		return "", err
	}
	return found[len(found)-1], nil
}
