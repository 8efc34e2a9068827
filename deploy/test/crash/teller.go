package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
)

// teller is one client. It tells one story after the other.
type teller struct {
	h             *Harness
	name          string
	rng           *rand.Rand
	n             int // requests made
	before, after func()
	door          *client
}

// story is a number of requests that build on each other. It returns errGone as soon as one has no answer.
type story func(*teller, context.Context) error

// stories are all there are, each with how often it is told.
var stories = []struct {
	weight int
	tell   story
}{
	{5, (*teller).sale},
	{6, (*teller).authorization},
	{4, (*teller).confirmation},
	{2, (*teller).race},
	{1, (*teller).verification},
	{1, (*teller).trouble},
	{3, (*teller).credit},
	{4, (*teller).tokenStory},
	{4, (*teller).customerStory},
	{2, (*teller).keyStory},
	{2, (*teller).endpointStory},
	{1, (*teller).day},
}

func (t *teller) tell(ctx context.Context) error {
	total := 0
	for _, s := range stories {
		total += s.weight
	}
	n := t.rng.IntN(total)
	for _, s := range stories {
		if n -= s.weight; n < 0 {
			return s.tell(t, ctx)
		}
	}
	return nil
}

// marker names the next object.
func (t *teller) marker() string {
	t.n++
	return fmt.Sprintf("%s-n%d", t.name, t.n)
}

// chance is true in so many of a hundred cases.
func (t *teller) chance(percent int) bool { return t.rng.IntN(100) < percent }

// post prepares a POST, mostly with a key.
func (t *teller) post(kind Kind, path, format string, args ...any) *Call {
	c := &Call{Kind: kind, Method: http.MethodPost, Path: path, Marker: t.marker()}
	if t.chance(75) {
		c.Key = "key-" + c.Marker
		c.Twin = t.chance(6)
	}
	if format != "" {
		c.Body = fmt.Sprintf(format, args...)
	}
	return c
}

// keyed makes sure that the request has a key.
func keyed(c *Call) *Call {
	c.Key = "key-" + c.Marker
	return c
}

// do sends the request, once.
func (t *teller) do(ctx context.Context, c *Call) error {
	t.h.mu.Lock()
	t.h.calls = append(t.h.calls, c)
	t.h.mu.Unlock()
	c.door = t.door
	t.before()
	a, err := t.send(ctx, c)
	switch {
	case err != nil || a.lost():
		c.Lost = true
		return t.lost(ctx, c)
	default:
		c.Answer = a
	}
	t.after()
	return nil
}

// lost is a client whose answer was lost: where there is nobody else, it waits until it is called back; where there is, it asks there at once, if it
// may.
func (t *teller) lost(ctx context.Context, c *Call) error {
	if !t.h.storms {
		return errGone
	}
	defer t.after()
	if !c.again() {
		return errOver
	}
	if err := t.h.askAgain(ctx, c); err != nil {
		t.h.mu.Lock()
		defer t.h.mu.Unlock()
		t.h.twins = append(t.h.twins, err.Error())
		return errOver
	}
	return nil
}

// send sends the request, and its twin beside it: both are told the same, or one is told that the other runs.
func (t *teller) send(ctx context.Context, c *Call) (*Answer, error) {
	way := t.h.way(c)
	if !c.Twin || c.Key == "" {
		return way.send(ctx, c)
	}
	var twin *Answer
	var lost error
	var running sync.WaitGroup
	running.Go(func() { twin, lost = way.send(ctx, c) }) // of several processes, by another one
	a, err := way.send(ctx, c)
	running.Wait()
	if err = errors.Join(err, lost); err != nil {
		return nil, err
	}
	if !a.kept() && (twin.kept() || twin.open()) {
		return twin, nil // the first was told to be patient, and had no effect
	}
	// Where others take over, the transport may have asked one of them for an answer that was lost: then both are answers to that.
	both := a.Replayed == twin.Replayed && (!t.h.storms || !a.Replayed)
	if a.kept() && twin.kept() && (a.Body != twin.Body || a.Status != twin.Status || both) {
		t.h.mu.Lock()
		defer t.h.mu.Unlock()
		t.h.twins = append(t.h.twins, fmt.Sprintf("%s %s was answered %d %s and at once %d %s", c.Kind, c.Marker, a.Status, a.Body, twin.Status, twin.Body))
	}
	return a, nil
}

// must is do for a request that the story cannot go on without.
func (t *teller) must(ctx context.Context, c *Call) error {
	if err := t.do(ctx, c); err != nil {
		return err
	}
	if !c.ok() {
		return errOver
	}
	return nil
}

// together sends requests at once.
func (t *teller) together(ctx context.Context, calls ...*Call) error {
	var all sync.WaitGroup
	errs := make([]error, len(calls))
	for i, c := range calls {
		all.Go(func() { errs[i] = t.do(ctx, c) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// pick returns one of several.
func pick[T any](t *teller, of ...T) T { return of[t.rng.IntN(len(of))] }
