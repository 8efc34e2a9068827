package providerb

import "sync"

// boundLimit is how many logins are remembered with their names; the last half of them always are.
const boundLimit = 1 << 17

// bound remembers by which header of the client's a login's first request was named, "" for by none. Headers are not signed: who can read a
// request could else send it again under another name. What is forgotten, or came to another proxy, is not known.
type bound struct {
	mu         sync.Mutex
	young, old map[evidenceHash]string // guarded by mu
}

func newBound() *bound {
	return &bound{young: map[evidenceHash]string{}, old: map[evidenceHash]string{}}
}

// first returns the header that the evidence was first used under, which is this one if it is new.
func (b *bound) first(evidence, header string) string {
	key := hashOf(evidence)
	b.mu.Lock()
	defer b.mu.Unlock()
	if was, known := b.young[key]; known {
		return was
	}
	if was, known := b.old[key]; known {
		return was
	}
	if len(b.young) >= boundLimit/2 {
		b.young, b.old = b.old, b.young
		clear(b.young)
	}
	b.young[key] = header
	return header
}
