package serve

import (
	"context"
	"fmt"
	"strings"
)

// RefusedError means that a node does not take what was set.
type RefusedError struct{ Node, Reason string }

// Error names the node and its reason.
func (e *RefusedError) Error() string { return fmt.Sprintf("node %s refused: %s", e.Node, e.Reason) }

// wait is Server.Wait.
func (n *nodes) wait(ctx context.Context) error {
	for {
		n.mu.Lock()
		changed := n.changed
		n.mu.Unlock()
		missing := []string{}
		all := n.list()
		for _, node := range all {
			if node.Refused != "" {
				return &RefusedError{Node: node.ID, Reason: node.Refused}
			}
			if !node.Current {
				missing = append(missing, node.ID)
			}
		}
		if len(all) > 0 && len(missing) == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if len(all) == 0 {
				return fmt.Errorf("serve: no node is connected: %w", ctx.Err())
			}
			return fmt.Errorf("serve: not acknowledged by %s: %w", strings.Join(missing, ", "), ctx.Err())
		}
	}
}
