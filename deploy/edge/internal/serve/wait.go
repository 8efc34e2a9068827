package serve

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// RefusedError reports that a node refused a part of the snapshot.
type RefusedError struct {
	Node, Reason string
	// Before reports that the node had refused the replaced version too.
	Before bool
}

// Error names the node and its reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("node %s rejected its configuration: %s", e.Node, e.Reason)
}

// outcome is the state of a change at all nodes.
type outcome struct {
	nodes   int
	missing map[string]bool // nodes without a response
	unused  bool            // no node has subscribed to it
	refused *RefusedError
}

// add keeps the more informative refusal.
func (o *outcome) add(e *RefusedError) {
	if o.refused == nil || o.refused.Before && !e.Before {
		o.refused = e
	}
}

// wait implements Server.Wait.
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

// late returns an error with the missing nodes.
func (o outcome) late(ctx context.Context) error {
	switch {
	case o.nodes == 0:
		return fmt.Errorf("serve: no node is connected: %w", ctx.Err())
	case len(o.missing) == 0:
		return fmt.Errorf("serve: no node has subscribed: %w", ctx.Err())
	}
	return fmt.Errorf("serve: not acknowledged by %s: %w", strings.Join(slices.Sorted(maps.Keys(o.missing)), ", "),
		ctx.Err())
}

// outcome returns the state of a change, or of the whole snapshot if c is nil. The mutex is held.
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
			if n.snap.Resources(url)[name] == version { // otherwise it has changed again
				n.look(&o, c, subject{"", url, name}, version)
			}
		}
	}
	return o
}

// look adds the state of one resource at all nodes.
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
			o.add(&RefusedError{
				Node:   s.id,
				Reason: shortType(what.url) + ": " + s.kinds[what.url].refused[what.name].reason,
				Before: c.refused[what],
			})
		case away:
		}
	}
	o.unused = o.unused || !used
}
