package serve

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// RefusedError means that a node does not take what was set.
type RefusedError struct {
	Node, Reason string
	// Before means that it had refused already what was there before, under the same name.
	Before bool
}

// Error names the node and its reason.
func (e *RefusedError) Error() string { return fmt.Sprintf("node %s refused: %s", e.Node, e.Reason) }

// outcome is what became of a change so far.
type outcome struct {
	nodes   int
	missing map[string]bool // nodes that have not answered
	unused  bool            // no node has it
	refused *RefusedError
}

// add keeps the refusal that says more.
func (o *outcome) add(e *RefusedError) {
	if o.refused == nil || o.refused.Before && !e.Before {
		o.refused = e
	}
}

// wait is Server.Wait.
func (n *nodes) wait(ctx context.Context, c *Change) error {
	for {
		n.mu.Lock()
		changed, o := n.changed, n.outcome(c)
		n.mu.Unlock()
		switch {
		case o.refused != nil && (!o.refused.Before || len(o.missing) == 0):
			return o.refused
		case o.nodes > 0 && len(o.missing) == 0 && !o.unused:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return o.late(ctx)
		}
	}
}

// late says who is waited for.
func (o outcome) late(ctx context.Context) error {
	switch {
	case o.nodes == 0:
		return fmt.Errorf("serve: no node is connected: %w", ctx.Err())
	case len(o.missing) == 0:
		return fmt.Errorf("serve: no node asks for it: %w", ctx.Err())
	}
	return fmt.Errorf("serve: not acknowledged by %s: %w", strings.Join(slices.Sorted(maps.Keys(o.missing)), ", "), ctx.Err())
}

// outcome is that of a change, or of all that was set where c is nil. The mutex is held.
func (n *nodes) outcome(c *Change) outcome {
	o := outcome{missing: map[string]bool{}}
	for _, s := range n.streams {
		if s.id == "" {
			continue
		}
		o.nodes++
		if c != nil {
			continue
		}
		if s.refuses() {
			o.add(&RefusedError{Node: s.id, Reason: s.refusal()})
		} else if !s.current(n.snap) {
			o.missing[s.id] = true
		}
	}
	if c == nil || n.snap == nil {
		return o
	}
	for url, names := range c.resources {
		for name, version := range names {
			if n.snap.Resources(url)[name] == version { // else something else came after it
				n.look(&o, c, subject{"", url, name}, version)
			}
		}
	}
	return o
}

// look asks how far the nodes are with one resource.
func (n *nodes) look(o *outcome, c *Change, what subject, version string) {
	used := version == ""
	for _, s := range n.streams {
		if s.id == "" {
			continue
		}
		what.node = s.id
		switch s.standing(what.url, what.name, version) {
		case has:
			used = true
		case missing:
			o.missing[s.id] = true
		case refused:
			o.add(&RefusedError{Node: s.id, Reason: shortType(what.url) + ": " + s.kinds[what.url].refused[what.name].reason, Before: c.refused[what]})
		case away:
		}
	}
	o.unused = o.unused || !used
}
