package engine

import (
	"context"
	"strings"
	"sync"
	"time"
)

// slots bound the private operations that run at a time with keys of one alg. Each alg has slots of
// its own, so cheap operations do not wait for expensive ones. Clients with waiting operations take
// turns: an operation waits for at most one of each other client.
type slots struct {
	free     chan struct{}
	patience time.Duration

	mu    sync.Mutex
	lines map[string]*line // by client; guarded by mu
}

// line is the operations of one client. As many as there are slots run, or wait for a slot. The
// others wait in the line, and delay no other client.
type line struct {
	first chan struct{}
	users int // guarded by mu of slots
}

func newSlots(n int, patience time.Duration) *slots {
	return &slots{free: make(chan struct{}, n), patience: patience, lines: map[string]*line{}}
}

// take waits for a slot of a client, but not long. It returns false if there is none. The caller
// gives the slot back by give.
func (s *slots) take(ctx context.Context, client string) (give func(), ok bool) {
	l := s.enter(client)
	timer := time.NewTimer(s.patience)
	defer timer.Stop()
	if !wait(ctx, l.first, timer.C) {
		s.leave(client, l)
		return nil, false
	}
	out := func() { <-l.first; s.leave(client, l) }
	if !wait(ctx, s.free, timer.C) {
		out()
		return nil, false
	}
	return func() { <-s.free; out() }, true
}

// wait takes a place of a semaphore. It returns false if none is free until over or the end of ctx.
func wait(ctx context.Context, semaphore chan struct{}, over <-chan time.Time) bool {
	select {
	case semaphore <- struct{}{}: // also for a client that leaves
		return true
	default:
	}
	select {
	case semaphore <- struct{}{}:
		return true
	case <-over:
	case <-ctx.Done():
	}
	return false
}

// enter returns the line of a client.
func (s *slots) enter(client string) *line {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lines[client]
	if l == nil {
		l = &line{first: make(chan struct{}, cap(s.free))}
		s.lines[client] = l
	}
	l.users++
	return l
}

// leave ends an operation in the line of a client.
func (s *slots) leave(client string, l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(s.lines, client)
	}
}

// client returns the client of a request whose merchant is known. The publishable keys of a
// merchant, which every payer can read, are another client than its secret keys.
func (x *Exchange) client() string {
	for _, value := range x.head.Fields.Values("authorization") {
		if _, key, _ := strings.Cut(value, " "); strings.HasPrefix(strings.TrimSpace(key), "pk_") {
			return x.merchant + " pk"
		}
	}
	return x.merchant
}
