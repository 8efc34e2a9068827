package api

import (
	"errors"
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// call is one changing request: its body has been read, and its idempotency key is known.
type call struct {
	*http.Request
	key     *payment.APIKey
	request engine.Request
	body    []byte
	// show turns the stored response into the sent one. Nil if they are the same. A command sets it
	// before it can refuse the request.
	show func(*engine.Result) error
	// counted is the transaction for which the refusal counts as a refused confirmation, or nil.
	counted *payment.Transaction
	// end runs after the outcome is stored and before the response is sent. It may be nil.
	end func()
	// sent is the response that carryOut has sent; zero after an error.
	sent engine.Result
}

// command carries out a changing request. It may refuse one by time or stored state:
// see carryOut.
type command func(c *call) (engine.Result, error)

// changing returns the handler of a POST or PATCH. It is the only way to a command, so that no
// command can refuse a request whose idempotency key has a stored response.
func (a *API) changing(run command) handler {
	return func(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
		body, err := readBody(w, r)
		if err != nil {
			return err
		}
		req, err := a.request(r, k, body)
		if err != nil {
			return err
		}
		return a.carryOut(w, &call{Request: r, key: k, request: req, body: body}, run)
	}
}

// carryOut runs a command and sends its response. A refusal is sent only if the idempotency key is
// free: a stored response, or an equal request that is running, comes first. A revocable refusal is
// stored under the key before it is sent, so equal requests get the same bytes. A command that
// succeeds claims the key itself.
func (a *API) carryOut(w http.ResponseWriter, c *call, run command) error {
	out, err := a.runCommand(c, run)
	if err == nil && c.show != nil {
		err = c.show(&out)
	}
	if err == nil {
		c.sent = out
	}
	return a.respond(w, c.Request, out, err)
}

// runCommand runs a command. It stores a refusal if that is revocable or counted.
func (a *API) runCommand(c *call, run command) (engine.Result, error) {
	defer func() {
		if c.end != nil {
			c.end()
		}
	}()
	out, err := run(c)
	if err != nil && (c.request.Key != "" || c.counted != nil) {
		return a.storedOrRefused(c, err)
	}
	return out, err
}

// storedOrRefused returns the response to a request that a command refused with why: the response
// stored under its idempotency key, or why.
func (a *API) storedOrRefused(c *call, why error) (engine.Result, error) {
	out, err := a.storedBefore(c, why)
	if err == nil || !turnless(faultOf(err).code) {
		return out, err
	}
	if stored, failed := a.Engine.StoredResponse(c.Context(), c.request); failed == nil {
		return stored, nil
	}
	return out, err
}

// turnless reports whether an error means that the command got no turn. Its idempotency key was
// then not looked up.
func turnless(code string) bool { return code == codeTooManyChanges || code == codeOverloaded }

// storedBefore looks up the request's key in a command, if a stored response has precedence over
// why. A counted refusal is counted in the commit that stores it.
func (a *API) storedBefore(c *call, why error) (engine.Result, error) {
	f := faultOf(why)
	switch {
	case !yieldsToStored(f.code):
		return engine.Result{}, why
	case c.counted != nil:
		return a.Engine.RefuseConfirmation(c.Context(), c.request, c.counted, f.refusal())
	case f.revocable():
		return a.Engine.KeepRefusal(c.Context(), c.request, f.refusal())
	}
	kept, err := a.Engine.StoredResponseInTurn(c.Context(), c.request)
	if errors.Is(err, payment.ErrNotFound) {
		return engine.Result{}, why
	}
	return kept, err
}

// refusal returns the reason of a refusal, to be stored under the request's key.
func (f *fault) refusal() *payment.Refusal {
	return &payment.Refusal{Code: f.code, Param: f.param, Message: f.message}
}

// errOfDefault is the cause of a refusal that depends on a customer's default payment method.
var errOfDefault = errors.New("api: depends on the default payment method")

// revocable reports whether an equal request can pass the check that refused this one. That is
// possible at another time, by the clock of another core, or after a change of the objects and
// settings that the check reads. Other refusals are final: a malformed body, an id without an
// object, an ended object. If an equal request passed its checks earlier, its intent gets the same
// refusal.
func (f *fault) revocable() bool {
	return v1.KeepsRefusal(f.code) || errors.Is(f, engine.ErrNoDefault) || errors.Is(f, errOfDefault)
}

// yieldsToStored reports whether a stored response has precedence over an error, so that a command
// must look it up. Errors of the service itself do not depend on the request, and the errors of the
// key come from its lookup. A key without the scope gets no response to a request that it may not
// send. A request without a turn waits for no other turn: see storedOrRefused.
func yieldsToStored(code string) bool {
	switch code {
	case codeInsufficientScope, codeInternal, codeStoreUnavailable, codeOverloaded, codeTooManyChanges, codeKeyInUse, codeKeyReused:
		return false
	}
	return true
}

// decode reads the body into v, as the function decode does.
func (c *call) decode(v any, optional bool) error { return parse(c.Request, c.body, v, optional) }

// publishable reports whether the request came with a publishable key, which is public.
func (c *call) publishable() bool { return c.key.Kind == string(apikey.Publishable) }

// testMode refuses live keys: test helpers are for test mode.
func (c *call) testMode() error {
	if c.key.Tenant.Live {
		return &fault{code: codeTestModeOnly}
	}
	return nil
}
