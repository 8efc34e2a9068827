package serve

import (
	"maps"

	"github.com/causeway-pay/causeway/deploy/edge/internal/snapshot"
)

// Change is the difference between two calls of Set. It is immutable.
type Change struct {
	resources map[string]map[string]string // versions by kind and name; "" for a removed resource
	refused   map[subject]bool             // nodes that had refused the replaced version
}

// subject is a resource at a node.
type subject struct{ node, url, name string }

// Only returns the part of one kind.
func (c *Change) Only(url string) *Change {
	return &Change{resources: map[string]map[string]string{url: c.resources[url]}, refused: c.refused}
}

// Empty reports whether the change is empty; nil is empty.
func (c *Change) Empty() bool {
	if c != nil {
		for _, names := range c.resources {
			if len(names) > 0 {
				return false
			}
		}
	}
	return true
}

// change returns the difference between the present and the new snapshot. The mutex is held.
func (n *nodes) change(to *snapshot.Snapshot) *Change {
	c := &Change{resources: map[string]map[string]string{}, refused: map[subject]bool{}}
	for _, url := range snapshot.Types {
		wanted := to.Resources(url)
		c.resources[url] = maps.Clone(wanted)
		if n.snap == nil {
			continue
		}
		for name, version := range n.snap.Resources(url) {
			switch wanted[name] {
			case version:
				delete(c.resources[url], name)
			case "":
				c.resources[url][name] = ""
			}
		}
	}
	for _, s := range n.streams {
		for url, k := range s.kinds {
			for name, r := range k.refused {
				c.refused[subject{s.id, url, name}] = r.sure
			}
		}
	}
	return c
}

// standing is the state of a resource at a node.
type standing int

const (
	missing standing = iota // no response yet
	has
	refused
	away // not subscribed, because the node refuses the resource that refers to it
)

func (s *stream) standing(url, name, version string) standing {
	k := s.kinds[url]
	if k == nil {
		k = &kind{}
	}
	r, doubted := k.refused[name]
	switch {
	case doubted && r.sure:
		return refused
	case doubted:
		return missing
	case k.has[name] == version:
		return has
	case !k.all && !k.names[name] && s.refuses():
		return away
	}
	return missing
}
