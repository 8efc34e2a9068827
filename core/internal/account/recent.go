package account

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

const (
	// recentCalls is how many of the last calls of an account are counted, and recentTime for how
	// long.
	recentCalls = 256
	recentTime  = time.Hour
	// unfinishedAge is how long a step counts as running before it counts as unfinished.
	unfinishedAge = time.Minute
)

// Activity are the recent calls of one account by this core: at most the last 256, of the last
// hour.
type Activity struct {
	Outcomes        map[string]int // by acquirer.Outcomes
	Calls           int
	Median, Slowest time.Duration
	// LastSuccess is when the acquirer last responded with a result, approved or declined. Zero: it
	// has not since the start of this core.
	LastSuccess time.Time
	// LastError is the cause of the last call that had no effect or an unknown outcome, at
	// LastErrorAt. "": there was none since the start of this core.
	LastError   string
	LastErrorAt time.Time
}

// Share returns the share of calls with an outcome, from 0 to 1.
func (a Activity) Share(outcome string) float64 {
	if a.Calls == 0 {
		return 0
	}
	return float64(a.Outcomes[outcome]) / float64(a.Calls)
}

// recent are the recent calls by account.
type recent struct {
	mu       sync.Mutex
	accounts map[int64]*calls // guarded by mu
}

func (r *recent) of(account int64) *calls {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.accounts[account]
	if c == nil {
		c = &calls{}
		r.accounts[account] = c
	}
	return c
}

// calls are the last calls of one account, in a ring.
type calls struct {
	mu      sync.Mutex
	ring    []call // guarded by mu, as all fields
	next    int
	success time.Time
	failure time.Time
	cause   string // of the failure
}

type call struct {
	outcome string
	took    time.Duration
	at      time.Time
}

// add adds a call. cause is the cause of a call without a result, else "".
func (c *calls) add(outcome string, took time.Duration, at time.Time, cause string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cause != "" {
		c.failure, c.cause = at, cause
	}
	if outcome == "approved" || outcome == "declined" {
		c.success = at
	}
	one := call{outcome, took, at}
	if len(c.ring) < recentCalls {
		c.ring = append(c.ring, one)
		return
	}
	c.ring[c.next] = one
	c.next = (c.next + 1) % recentCalls
}

func (c *calls) activity(now time.Time) Activity {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := Activity{Outcomes: map[string]int{}, LastSuccess: c.success, LastError: c.cause, LastErrorAt: c.failure}
	var took []time.Duration
	for _, one := range c.ring {
		if now.Sub(one.at) >= recentTime {
			continue
		}
		out.Outcomes[one.outcome]++
		took = append(took, one.took)
	}
	if out.Calls = len(took); out.Calls > 0 {
		slices.Sort(took)
		out.Median, out.Slowest = took[len(took)/2], took[len(took)-1]
	}
	return out
}

// Activity returns the recent calls of an account by this core.
func (a *Accounts) Activity(account int64) Activity {
	return a.recent.of(account).activity(a.Clock.Now())
}

// All returns all accounts, oldest first, including disabled ones, as of the last second.
func (a *Accounts) All(ctx context.Context) ([]*payment.Account, error) {
	return cached(a, a.all, 0, func() ([]*payment.Account, error) { return a.Store.AllAccounts(ctx) })
}

// Unfinished returns the numbers of the steps and pending reversals of all cores that have had no
// outcome for a minute, by account. Accounts without any are missing.
func (a *Accounts) Unfinished(ctx context.Context) (map[int64]int64, error) {
	return cached(a, a.steps, 0, func() (map[int64]int64, error) {
		return a.Store.AccountSteps(ctx, a.Clock.Now().Add(-unfinishedAge))
	})
}
