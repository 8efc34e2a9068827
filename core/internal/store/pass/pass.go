package pass

import "context"

// Skip is an object that a pass left as it was, because the object could not be read or the store
// refused its change.
type Skip struct {
	Pass string // one of Names
	Kind string // of the object: "transaction", "merchant"
	ID   int64
	Err  error
}

// The passes that skip objects.
const (
	Settlement = "settlement"
	Expiry     = "expiry"
	Erasure    = "erasure"
	Inactive   = "inactive_customers"
	Broadcast  = "broadcast"
	Webhooks   = "webhooks"
	Purge      = "purge"
	Recovery   = "recovery"
)

// Names are the names of all passes that skip objects.
func Names() []string {
	return []string{Settlement, Expiry, Erasure, Inactive, Broadcast, Webhooks, Purge, Recovery}
}

// Pass is one background pass over the rows of many merchants. A row or merchant that fails is
// skipped, so that it delays no other. A later pass finds it again.
type Pass struct {
	name    string
	ends    func(context.Context, error) bool
	observe func(context.Context, Skip) // nil for no observer
	skipped int
}

// New returns a pass of a name, one of Names. ends reports whether a failure is of the store as a
// whole, or of the context, and not of the rows of a command. The pass calls observe at each skip,
// unless it is nil.
func New(name string, ends func(context.Context, error) bool, observe func(context.Context, Skip)) *Pass {
	return &Pass{name: name, ends: ends, observe: observe}
}

// Skip skips an object that failed with err and reports it to the observer. It returns err if the
// pass has to end: if ctx has ended or the store as a whole failed. A nil err is no failure.
func (p *Pass) Skip(ctx context.Context, kind string, id int64, err error) error {
	if err == nil || p.ends(ctx, err) {
		return err
	}
	p.skipped++
	if p.observe != nil {
		p.observe(ctx, Skip{Pass: p.name, Kind: kind, ID: id, Err: err})
	}
	return nil
}

// Skipped returns how many objects the pass has skipped so far.
func (p *Pass) Skipped() int { return p.skipped }
