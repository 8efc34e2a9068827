// Package dialect holds the parts of a legacy dialect's handler that do not depend on the dialect.
package dialect

import (
	"context"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/attempts"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Executor runs commands.
type Executor interface {
	// Identify returns v1's record of a key, with its scopes, and counts the request towards the
	// key's merchant.
	Identify(ctx context.Context, key secret.String) (v1.APIKey, command.Result)
	// Execute runs a command.
	Execute(ctx context.Context, key secret.String, c command.Command) command.Result
	// Bind reserves evidence for one purpose.
	Bind(ctx context.Context, key secret.String, b command.Binding, purpose []string) command.Result
}

// Config holds the settings of a dialect's handler. All but Attempts and Observe are required.
type Config struct {
	Executor Executor
	Clock    clock.Clock
	// NewNumber returns a number in the form of a payment's, for a response without an object of v1.
	NewNumber func() string
	// Currency is the lower-case default for amounts without a currency in the request and the login.
	Currency string
	// MaxBytes bounds a request body.
	MaxBytes int64
	// Attempts bounds the attempts to log in. Nil bounds nothing.
	Attempts *attempts.Limiter
	// Observe gets every request after its response: the method's name, or MethodNone for an unknown
	// method, and the class of the outcome. May be nil.
	Observe func(method, class string, took time.Duration)
}

// MethodNone stands for the method of a request without a known method.
const MethodNone = "none"

// The classes of the outcome of a request.
const (
	ClassApproved = "approved" // done
	ClassDeclined = "declined"
	ClassFailed   = "failed"  // not executed because v1 or a hop to it failed, or its outcome is unknown
	ClassRefused  = "refused" // an invalid request or login
	ClassBusy     = "busy"
	ClassBroken   = "broken" // it ended in a panic
)

// Measure reports a request to Observe. serve returns the method and the class of the outcome.
func (c *Config) Measure(serve func() (method, class string)) {
	start, method, class := c.Clock.Now(), MethodNone, ClassBroken
	defer func() {
		if c.Observe != nil {
			c.Observe(method, class, c.Clock.Now().Sub(start))
		}
	}()
	method, class = serve()
}

// Login is the decision about the login of a request.
type Login int

// The decisions about a login.
const (
	LoginUndecided Login = iota // v1 did not decide whether it is right
	LoginRefused                // wrong: it counts as a refused attempt
	LoginAccepted
)

// Admit judges the login of a request with a secret. It returns false without calling judge if the
// login was tried too often. The dialect then refuses it like a wrong login, with the same text.
func (c *Config) Admit(ctx context.Context, login string, s secret.String, judge func() Login) bool {
	attempt, allowed := c.Attempts.Begin(ctx, login, s)
	if !allowed {
		return false
	}
	defer attempt.End()
	switch judge() {
	case LoginRefused:
		attempt.Refused(ctx)
	case LoginAccepted:
		attempt.Accepted()
	case LoginUndecided:
	}
	return true
}

// Identify returns v1's record of an API key, and names its merchant and the key in the log line of
// the request.
func (c *Config) Identify(ctx context.Context, key secret.String) (v1.APIKey, command.Result) {
	info, r := c.Executor.Identify(ctx, key)
	event := httpx.EventFrom(ctx)
	event.SetTenant(info.Merchant)
	if info.ID != "" {
		event.SetWord(httpx.WordAPIKey, info.ID)
	}
	return info, r
}
