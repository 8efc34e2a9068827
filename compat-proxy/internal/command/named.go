package command

import (
	"context"
	"net/http"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Named is a command that its client can tell from all others: one that comes again under the same Name is the same one, has no effect of
// its own and gets the first one's answer, for as long as v1 keeps it (24 hours). One with the same name that asks for something else is
// Refused with CodeKeyReused. When another operation on the same payment is under way it waits for that a moment.
type Named struct {
	Command Command `json:"command"`
	// Name is told apart by the caller's API key; it may hold anything, as only a hash of it leaves the proxy.
	Name string `json:"name"`
}

// Kind implements Command.
func (n Named) Kind() Kind { return n.Command.Kind() }

// unwrap returns the command itself and takes its name for the key of its attempts.
func (s *session) unwrap(c Command) Command {
	n, ok := c.(Named)
	if !ok {
		return c
	}
	s.idempotencyKey, s.patient = s.named(n.Kind(), n.Name), true
	return n.Command
}

// named is the key of the Named command of that kind and name.
func (s session) named(kind Kind, name string) string {
	return "named-" + s.identify([]string{string(kind), name})
}

// made looks up the id of what the Named command of that kind and name made. Without one it returns "" and the result to give:
// NotFound when v1 knows of no such command or it made nothing, Uncertain while that is not known.
func (s session) made(ctx context.Context, kind Kind, name string) (string, Result) {
	for i := 0; ; i++ {
		key := s.named(kind, name)
		a := s.x.call(ctx, "", func(ctx context.Context) (*http.Response, error) {
			return s.x.client.GetIdempotencyKey(ctx, key, s.authorized)
		})
		var found v1.IdempotencyKeyRecord
		if r, ok := a.read(&found, func() bool { return found.Key == "" || found.Key == key }); !ok {
			return "", r
		}
		switch {
		case found.HTTPStatus != nil && found.Resource != nil:
			return *found.Resource, Result{}
		case found.HTTPStatus != nil:
			return "", Result{Outcome: NotFound, Status: http.StatusNotFound}
		case i == lookReads || !wait(ctx, s.x.cfg.FollowPause<<i):
			return "", Result{Outcome: Uncertain, Status: http.StatusConflict, Code: CodeKeyInUse}
		}
	}
}
