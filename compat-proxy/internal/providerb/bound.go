package providerb

import (
	"sync"
	"time"
)

// boundLimit is how many logins are remembered; the last half of them always are.
const boundLimit = 1 << 17

// bound remembers when a login was first used, and by which header of the client's its request was named, "" for by none. Headers are not
// signed: who can read a request could else send it again under another name. What is forgotten, or came to another proxy, is not known.
type bound struct {
	mu         sync.Mutex
	young, old map[evidenceHash]sight // guarded by mu
}

// sight is the first use of a login.
type sight struct {
	header string
	at     time.Time
}

func newBound() *bound {
	return &bound{young: map[evidenceHash]sight{}, old: map[evidenceHash]sight{}}
}

// first returns the first use of the evidence, which is this one if it is new.
func (b *bound) first(evidence string, now sight) sight {
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
	b.young[key] = now
	return now
}
