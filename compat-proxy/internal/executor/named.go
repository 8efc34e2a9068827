package executor

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/deduplication"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	// namedKeys is how many keys a name has. A retry after a refusal uses the next key.
	namedKeys = 8
	// namedFor is how long after the use of a name's first key the others can still be used. A retry
	// reads the first key first, which v1 keeps for 24 hours, so effects under later keys are found
	// for 24 hours minus namedFor.
	namedFor = time.Hour
)

// namedKey returns the nth Idempotency-Key of the Named command of that kind and name.
func namedKey(n deduplication.Names, kind command.Kind, name string, nth int) string {
	parts := []string{string(kind), name}
	if nth > 0 {
		parts = append(parts, strconv.Itoa(nth))
	}
	return "named-" + n.Derive(parts)
}

// runNamed runs a command under the first key of its name under which v1 stored no refusal. V1
// decides which request has a key, and a refused key stays refused. So at most one of all requests
// under a name has an effect, even if they are concurrent or a proxy died. A version conflict does
// not refuse the request. The command reads and decides again under the next key, also if it is
// Final.
func (s session) runNamed(ctx context.Context, c command.Named) command.Result {
	s.patient = true
	names, failed := s.ChooseNames(ctx, func(n deduplication.Names) string { return namedKey(n, c.Kind(), c.Name, 0) })
	if failed != nil {
		return *failed
	}
	if r := s.bind(ctx, c); r != nil {
		return *r
	}
	n, began := 0, time.Time{}
	for try := 1; ; try++ {
		s.IdempotencyKey, s.keyResponse = namedKey(names, c.Kind(), c.Name, n), &keyResponse{}
		r := s.run(ctx, c.Command)
		r.Fresh, r.Replayed = s.keyResponse.fresh, s.keyResponse.replayed
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
		u, failed := s.AwaitKey(ctx, s.IdempotencyKey)
		switch {
		case u.MayActLate(r):
			return command.KeyInUse()
		case failed != nil:
			return *failed
		case r.Code == v1.CodeKeyReused:
			r.Outcome = command.Refused // the other request keeps the key
		}
		if n == 0 {
			began = u.Made
		}
		switch {
		case c.Final && u.Found && !u.Conflict:
			return r
		case u.Running:
			return command.KeyInUse()
		case u.Found && !u.Refused:
			return r
		}
		now, failed := s.Now(ctx)
		switch {
		case failed != nil:
			return *failed
		case try == namedKeys, now.Sub(began) >= namedFor:
			return spent(r)
		case u.Found:
			if held, failed := s.mayRetry(ctx, c, names, n, u); failed != nil {
				return *failed
			} else if !held {
				return spent(r)
			}
			n++
		}
	}
}

const (
	// retriedPurpose is the purpose of the reservation by which a request with the evidence goes on to
	// the name's next key.
	retriedPurpose = "retried"
	// noNextKey stands for the next key's number if this request has no next key.
	noNextKey = -1
)

// finalizeRefusal makes a refusal of this request final before the client gets it. It returns
// noNextKey. If another request with the same evidence has continued, it returns the number of the
// next key to try.
func (s session) finalizeRefusal(
	ctx context.Context, c command.Named, names deduplication.Names, n int, r command.Result,
) (int, *command.Result) {
	if !c.Final && c.Evidence == "" || !final(r) {
		return noNextKey, nil
	}
	if !s.keyResponse.stored {
		held, failed := s.Reserve(ctx, s.IdempotencyKey, deduplication.RefusedPurpose)
		if failed != nil || !held {
			return n, failed
		}
	}
	if c.Final {
		return noNextKey, nil
	}
	held, failed := s.Reserve(ctx, refusalKey(names, c, n), deduplication.RefusedPurpose)
	if failed != nil || !held {
		return n + 1, failed
	}
	return noNextKey, nil
}

// mayRetry reports whether a request may go on after a refusal under the nth key. It may not if the
// same bytes got the refusal.
func (s session) mayRetry(
	ctx context.Context, c command.Named, names deduplication.Names, n int, u deduplication.Use,
) (bool, *command.Result) {
	if c.Evidence == "" || u.Conflict {
		return true, nil
	}
	return s.Reserve(ctx, refusalKey(names, c, n), retriedPurpose)
}

// refusalKey returns the key whose reservation decides the result of requests with the same
// evidence after a refusal under the nth key.
func refusalKey(n deduplication.Names, c command.Named, nth int) string {
	return "refusal-" + n.Derive([]string{c.Name, c.Evidence, strconv.Itoa(nth)})
}

// final reports whether r is a refusal that a retry of the same bytes must get too. A result that
// makes clients retry is not.
func final(r command.Result) bool {
	switch r.Code {
	case v1.CodeOperationInProgress, v1.CodeKeyInUse, v1.CodeKeyReused, command.CodeNameSpent, command.CodeFailed:
		return false
	}
	return (r.Outcome == command.Refused || r.Outcome == command.Unmet || r.Outcome == command.NotFound) &&
		(r.Status == 0 || r.Status/100 == 4)
}

// spent returns the refusal of a request that may not try the next key. That is v1's refusal, or
// CodeNameSpent if the key belongs to another request.
func spent(r command.Result) command.Result {
	if r.Code == v1.CodeKeyReused {
		r.Code = command.CodeNameSpent
	}
	return r
}

// keyResponse records v1's response about the key of a Named command.
type keyResponse struct {
	fresh    bool // v1 did it now
	replayed bool // v1 did it, or refused it, in an earlier request
	// stored reports that v1 keeps its refusal under the key, or repeats it for any equal request.
	stored bool
	taken  bool // v1 did nothing for this request: another has the key, or an equal one was refused under it
}

// record records v1's last response to a request. On a nil keyResponse it does nothing.
func (p *keyResponse) record(resp v1client.Response) {
	if p != nil {
		p.fresh = command.Effective(resp.Status) && !resp.Stored
		p.replayed = resp.Replayed
		p.stored = resp.Settles() && resp.Status != http.StatusNotFound
		p.taken = resp.Err.Code == v1.CodeKeyReused || resp.Replayed && command.Refuses(resp.Status)
	}
}

// resourceUnderName reports whether a request has the session's key, and returns the id of the
// object that this request added or changed. If it still runs, it returns the result to give. A
// command reads this record before its customer, which may have been deleted since.
func (s session) resourceUnderName(ctx context.Context) (used bool, resource string, r *command.Result) {
	u, failed := s.AwaitKey(ctx, s.IdempotencyKey)
	switch {
	case failed != nil:
		return true, "", failed
	case u.Running:
		return true, "", new(command.KeyInUse())
	}
	return u.Found, u.Resource, nil
}

// madeBy maps the kinds that findNamed finds to the objects that they make.
var madeBy = map[command.Kind]id.Prefix{
	command.PaymentAuthorize: id.Transaction, command.PaymentCapture: id.Capture, command.PaymentRefund: id.Refund,
}

// findNamed returns the id of the object that a Named command with the name made, for the first of
// the kinds that made one. Without one it returns "" and the result to give: Uncertain while a
// command is running, and NotFound if none made anything. Before NotFound it reserves the name's
// next key of each kind at v1, so that a command that arrives later has no effect.
func (s session) findNamed(ctx context.Context, name string, kinds ...command.Kind) (string, command.Result) {
	for range namedKeys {
		var free []string
		for _, kind := range kinds {
			made, next, r := s.findMade(ctx, kind, name)
			switch {
			case made != "" && isID(madeBy[kind], made): // a declined step shows its payment
				return made, command.Result{}
			case made == "" && r.Outcome != command.NotFound:
				return "", r
			case next != "":
				free = append(free, next)
			}
		}
		if held, failed := s.reserveAll(ctx, free); failed != nil {
			return "", *failed
		} else if held {
			return "", command.Result{Outcome: command.NotFound, Status: http.StatusNotFound}
		}
	}
	return "", command.KeyInUse()
}

// reserveAll reserves keys so that no later command can use them. It reports false if a command
// took one first.
func (s session) reserveAll(ctx context.Context, keys []string) (bool, *command.Result) {
	for _, key := range keys {
		held, failed := s.Reserve(ctx, key, "not found")
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
func (s session) findMade(ctx context.Context, kind command.Kind, name string) (made, next string, r command.Result) {
	for _, names := range s.AllNames() {
		made, free, r := s.findMadeUnder(ctx, names, kind, name)
		if made != "" || r.Outcome != command.NotFound {
			return made, "", r
		}
		if next == "" || free != namedKey(names, kind, name, 0) { // as in ChooseNames
			next = free
		}
	}
	return "", next, command.Result{Outcome: command.NotFound, Status: http.StatusNotFound}
}

// findMadeUnder is findMade for the names of one secret.
func (s session) findMadeUnder(
	ctx context.Context, names deduplication.Names, kind command.Kind, name string,
) (made, next string, r command.Result) {
	none := command.Result{Outcome: command.NotFound, Status: http.StatusNotFound}
	for n := range namedKeys {
		key := namedKey(names, kind, name, n)
		u, failed := s.AwaitKey(ctx, key)
		switch {
		case failed != nil:
			return "", "", *failed
		case u.Denied != nil:
			return "", "", *u.Denied
		case !u.Found:
			return "", key, none
		case u.Running:
			return "", "", command.KeyInUse()
		case u.Refused:
			continue
		case u.Resource != "":
			return u.Resource, "", command.Result{}
		}
		return "", "", none
	}
	return "", "", none
}

// refuse reserves the key of the refused command. If another request has the key, that request
// decides, as if v1 had refused the key to the command. Without a name it reserves nothing.
func (s session) refuse(ctx context.Context) command.Result {
	refused := command.Result{Outcome: command.Refused, Status: http.StatusForbidden, Code: command.CodeNotPermitted}
	if !s.named() {
		return refused
	}
	held, failed := s.Reserve(ctx, s.IdempotencyKey, deduplication.RefusedPurpose)
	if failed != nil {
		return *failed
	}
	s.keyResponse.stored, s.keyResponse.taken = held, !held
	return refused
}
