package command

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Named is a command to which the client gives a name. A later command with the same Name is a
// retry. It has no effect and gets the first result, for as long as v1 keeps it (24 hours). A
// different command under the same name is Refused with v1.CodeKeyReused. Only a command that had
// an effect, or may still have one, uses the name. After a refusal the name is free again. A Named
// command waits briefly while another operation on the same payment runs.
type Named struct {
	Command Command `json:"command"`
	// Name is unique within the caller's merchant and mode, for all its API keys. It may hold
	// anything: only a keyed hash leaves the proxy.
	Name string `json:"name"`
	// Bound ties the evidence of the request's login to Name, if the login does not cover it. The
	// zero Binding ties nothing.
	Bound Binding `json:"bound,omitzero"`
	// Evidence is the nonce or signature of the request's login, if the client chooses Name. After a
	// refusal, a repeat of the same bytes is refused again, and a retry with a new signature may use
	// Name. If Evidence is empty, a repeat of the same bytes may use Name too.
	Evidence string `json:"evidence,omitzero"`
	// Final makes a refusal use the name as well, where a retry must not have another result.
	Final bool `json:"final,omitzero"`
}

// Binding is the evidence of a request's login, its nonce or signature. V1 keeps it for 24 hours
// with the first Name that came with it. The same evidence with another Name is Refused with
// CodeNameSpent, and so is a Named command whose Name is the evidence itself.
type Binding struct {
	Evidence string `json:"evidence,omitempty"`
	// EvidenceKey is the API key whose merchant stores the evidence, where Name may belong to one of
	// several merchants. The zero EvidenceKey stands for the caller's key.
	EvidenceKey secret.String `json:"-"`
}

// Kind implements Command.
func (n Named) Kind() Kind { return n.Command.Kind() }

const (
	// namedKeys is how many keys a name has. A retry after a refusal uses the next key.
	namedKeys = 8
	// namedFor is how long after the use of a name's first key the others can still be used. A retry
	// reads the first key first, which v1 keeps for 24 hours, so effects under later keys are found
	// for 24 hours minus namedFor.
	namedFor = time.Hour
)

// key returns the nth Idempotency-Key of the Named command of that kind and name.
func (n naming) key(kind Kind, name string, nth int) string {
	parts := []string{string(kind), name}
	if nth > 0 {
		parts = append(parts, strconv.Itoa(nth))
	}
	return "named-" + n.derive(parts)
}

// runNamed runs a command under the first key of its name under which v1 stored no refusal. V1
// decides which request has a key, and a refused key stays refused. So at most one of all requests
// under a name has an effect, even if they are concurrent or a proxy died. A version conflict does
// not refuse the request. The command reads and decides again under the next key, also if it is
// Final.
func (s session) runNamed(ctx context.Context, c Named) Result {
	s.patient = true
	names, failed := s.chooseNames(ctx, func(n naming) string { return n.key(c.Kind(), c.Name, 0) })
	if failed != nil {
		return *failed
	}
	if r := s.bind(ctx, c); r != nil {
		return *r
	}
	n, began := 0, time.Time{}
	for try := 1; ; try++ {
		s.idempotencyKey, s.keyResponse = names.key(c.Kind(), c.Name, n), &keyResponse{}
		r := s.run(ctx, c.Command)
		r.Fresh = s.keyResponse.fresh
		if !s.keyResponse.taken && r.Code != v1.CodeVersionConflict {
			next, failed := s.finalizeRefusal(ctx, c, names, n, r)
			switch {
			case failed != nil:
				return *failed
			case next == noNextKey || try == namedKeys:
				return r
			}
			n = next
			continue
		}
		u, failed := s.awaitKey(ctx, s.idempotencyKey)
		switch {
		case r.mayActLate(u):
			return keyInUse()
		case failed != nil:
			return *failed
		case r.Code == v1.CodeKeyReused:
			r.Outcome = Refused // the other request keeps the key
		}
		if n == 0 {
			began = u.made
		}
		switch {
		case c.Final && u.found && !u.conflict:
			return r
		case u.running:
			return keyInUse()
		case u.found && !u.refused:
			return r
		}
		now, failed := s.now(ctx)
		switch {
		case failed != nil:
			return *failed
		case try == namedKeys, now.Sub(began) >= namedFor:
			return r.spent()
		case u.found:
			if held, failed := s.mayRetry(ctx, c, names, n, u); failed != nil {
				return *failed
			} else if !held {
				return r.spent()
			}
			n++
		}
	}
}

const (
	// refusedPurpose is the purpose of the reservations that make a refusal final. They are of the
	// name's key, if v1 stores nothing under it, and of the evidence.
	refusedPurpose = "refused"
	// retriedPurpose is the purpose of the reservation by which a request with the evidence goes on to
	// the name's next key.
	retriedPurpose = "retried"
	// noNextKey stands for the next key's number if this request has no next key.
	noNextKey = -1
)

// finalizeRefusal makes a refusal of this request final before the client gets it. It returns
// noNextKey. If another request with the same evidence has continued, it returns the number of the
// next key to try.
func (s session) finalizeRefusal(ctx context.Context, c Named, names naming, n int, r Result) (int, *Result) {
	if !c.Final && c.Evidence == "" || !r.final() {
		return noNextKey, nil
	}
	if !s.keyResponse.stored {
		held, failed := s.reserve(ctx, s.idempotencyKey, refusedPurpose)
		if failed != nil || !held {
			return n, failed
		}
	}
	if c.Final {
		return noNextKey, nil
	}
	held, failed := s.reserve(ctx, names.refusal(c, n), refusedPurpose)
	if failed != nil || !held {
		return n + 1, failed
	}
	return noNextKey, nil
}

// mayRetry reports whether a request may go on after a refusal under the nth key. It may not if the
// same bytes got the refusal.
func (s session) mayRetry(ctx context.Context, c Named, names naming, n int, u keyUse) (bool, *Result) {
	if c.Evidence == "" || u.conflict {
		return true, nil
	}
	return s.reserve(ctx, names.refusal(c, n), retriedPurpose)
}

// refusal returns the key whose reservation decides the result of requests with the same evidence
// after a refusal under the nth key.
func (n naming) refusal(c Named, nth int) string {
	return "refusal-" + n.derive([]string{c.Name, c.Evidence, strconv.Itoa(nth)})
}

// final reports whether r is a refusal that a retry of the same bytes must get too. A result that
// makes clients retry is not.
func (r Result) final() bool {
	switch r.Code {
	case v1.CodeOperationInProgress, v1.CodeKeyInUse, v1.CodeKeyReused, CodeNameSpent, CodeFailed:
		return false
	}
	return (r.Outcome == Refused || r.Outcome == Unmet || r.Outcome == NotFound) && (r.Status == 0 || r.Status/100 == 4)
}

// spent returns the refusal of a request that may not try the next key. That is v1's refusal, or
// CodeNameSpent if the key belongs to another request.
func (r Result) spent() Result {
	if r.Code == v1.CodeKeyReused {
		r.Code = CodeNameSpent
	}
	return r
}

// keyResponse records v1's response about the key of a Named command.
type keyResponse struct {
	fresh bool // v1 did it now
	// stored reports that v1 keeps its refusal under the key, or repeats it for any equal request.
	stored bool
	taken  bool // v1 did nothing for this request: another has the key, or an equal one was refused under it
}

// record records v1's last response to a request. On a nil keyResponse it does nothing.
func (p *keyResponse) record(resp v1client.Response) {
	if p != nil {
		p.fresh = effective(resp.Status) && !resp.Stored
		p.stored = resp.Settles() && resp.Status != http.StatusNotFound
		p.taken = resp.Err.Code == v1.CodeKeyReused || resp.Replayed && refusal(resp.Status)
	}
}

// effective reports whether the status means that v1 did something. A decline counts.
func effective(status int) bool { return status/100 == 2 || status == http.StatusPaymentRequired }

// refusal reports whether the status means that v1 did nothing and never will.
func refusal(status int) bool { return status/100 == 4 && !effective(status) }

// findNamed returns the id of the object that a Named command with the name made, for the first of
// the kinds that made one. Without one it returns "" and the result to give: Uncertain while a
// command is running, and NotFound if none made anything. Before NotFound it reserves the name's
// next key of each kind at v1, so that a command that arrives later has no effect.
func (s session) findNamed(ctx context.Context, name string, kinds ...Kind) (string, Result) {
	for range namedKeys {
		var free []string
		for _, kind := range kinds {
			made, next, r := s.findMade(ctx, kind, name)
			switch {
			case made != "" && (kind != PaymentCapture || isID(id.Capture, made)):
				return made, Result{}
			case made == "" && r.Outcome != NotFound:
				return "", r
			case next != "":
				free = append(free, next)
			}
		}
		if held, failed := s.reserveAll(ctx, free); failed != nil {
			return "", *failed
		} else if held {
			return "", Result{Outcome: NotFound, Status: http.StatusNotFound}
		}
	}
	return "", keyInUse()
}

// reserveAll reserves keys for no command at all. It reports false if a command took one first.
func (s session) reserveAll(ctx context.Context, keys []string) (bool, *Result) {
	for _, key := range keys {
		held, failed := s.reserve(ctx, key, "not found")
		if failed != nil || !held {
			return false, failed
		}
	}
	return true, nil
}

// findMade returns the id of the object that the Named command of that kind and name made. Without
// one it returns "", the key that the next command of the name would have ("" for none), and the
// result to give. That is NotFound if v1 has no such command or it made nothing, and Uncertain
// while it is unknown.
func (s session) findMade(ctx context.Context, kind Kind, name string) (made, next string, r Result) {
	for _, names := range s.allNames() {
		made, free, r := s.findMadeUnder(ctx, names, kind, name)
		if made != "" || r.Outcome != NotFound {
			return made, "", r
		}
		if next == "" || free != names.key(kind, name, 0) { // as in chooseNames
			next = free
		}
	}
	return "", next, Result{Outcome: NotFound, Status: http.StatusNotFound}
}

// findMadeUnder is findMade for the names of one secret.
func (s session) findMadeUnder(
	ctx context.Context, names naming, kind Kind, name string,
) (made, next string, r Result) {
	none := Result{Outcome: NotFound, Status: http.StatusNotFound}
	for n := range namedKeys {
		key := names.key(kind, name, n)
		u, failed := s.awaitKey(ctx, key)
		switch {
		case failed != nil:
			return "", "", *failed
		case u.denied != nil:
			return "", "", *u.denied
		case !u.found:
			return "", key, none
		case u.running:
			return "", "", keyInUse()
		case u.refused:
			continue
		case u.resource != "":
			return u.resource, "", Result{}
		}
		return "", "", none
	}
	return "", "", none
}
