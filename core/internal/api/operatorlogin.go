package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
)

// The results of operator logins, as metrics count them.
const (
	LoginAccepted = "accepted"
	LoginRefused  = "refused"
	LoginLimited  = "limited"
)

const (
	// maxFailures is how many failed logins one address may have in failureWindow.
	maxFailures   = 30
	failureWindow = time.Minute
	// maxAddresses bounds the memory for failed logins.
	maxAddresses = 4096
)

// failures counts the failed logins of each address.
type failures struct {
	mu   sync.Mutex
	seen map[string]failed // guarded by mu
}

type failed struct {
	n     int
	until time.Time // the end of the window
}

// add counts a failed login of the client with an address. If the address has had maxFailures in
// its window, it counts nothing and returns false, so the window ends failureWindow after the first
// failure.
func (f *failures) add(address string, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen == nil {
		f.seen = map[string]failed{}
	}
	key := admission.ClientOf(address)
	one, known := f.seen[key]
	if !known && len(f.seen) >= maxAddresses {
		f.makeRoom(now)
	}
	if !now.Before(one.until) {
		one = failed{until: now.Add(failureWindow)}
	}
	if one.n >= maxFailures {
		return false
	}
	one.n++
	f.seen[key] = one
	return true
}

// makeRoom removes the addresses whose window has ended, and any other address if there is none.
func (f *failures) makeRoom(now time.Time) {
	for key, one := range f.seen {
		if !now.Before(one.until) {
			delete(f.seen, key)
		}
	}
	for key := range f.seen {
		if len(f.seen) < maxAddresses {
			return
		}
		delete(f.seen, key)
	}
}

type operatorKey struct{}

// actor returns the operator of an admitted request.
func (o *Operator) actor(r *http.Request) audit.Actor {
	a, _ := r.Context().Value(operatorKey{}).(audit.Actor)
	return a
}

// login finds the operator of a request and checks the role that the route needs. The returned
// request has the operator, even if the role does not allow the route. A valid token is never
// limited, because clients behind one address would otherwise lock each other out. A token has 256
// random bits and costs one lookup by its id, so the limit bounds refused tokens only.
func (o *Operator) login(r *http.Request, rt operatorRoute) (*http.Request, error) {
	address, now := httpx.ClientAddressFrom(r.Context()), o.Clock.Now()
	token, _ := httpx.Bearer(r.Header["Authorization"])
	actor, role, err := o.operatorOf(r.Context(), token)
	if errors.Is(err, payment.ErrNotFound) {
		if !o.failures.add(address, now) {
			o.LoggedIn(LoginLimited)
			return r, &fault{code: codeTooManyLogins}
		}
		o.LoggedIn(LoginRefused)
		return r, &fault{code: codeInvalidOperatorToken}
	}
	if err != nil {
		return r, err
	}
	o.LoggedIn(LoginAccepted)
	actor.Address = address
	r = r.WithContext(context.WithValue(r.Context(), operatorKey{}, actor))
	if role != auth.RoleOperator && !slices.Contains(rt.roles, role) {
		return r, &fault{code: codeInsufficientRole, message: "This operator token has the role " + role + ", which does not allow this request. Use one with the role operator."}
	}
	return r, nil
}

// operatorOf finds an operator by its token. It returns payment.ErrNotFound if the token is not
// valid.
func (a *API) operatorOf(ctx context.Context, token string) (actor audit.Actor, role string, err error) {
	if token == "" {
		return actor, "", payment.ErrNotFound
	}
	if a.isFilterToken(token) {
		return audit.Actor{Name: "filter"}, auth.RoleFilter, nil
	}
	found, err := a.Auth.Operator(ctx, token)
	if err != nil {
		return actor, "", err
	}
	actor = audit.Actor{Name: "operator " + found.Name + " " + id.Format(id.Operator, found.ID), Token: found.ID}
	return actor, found.Role, nil
}
