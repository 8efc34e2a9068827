package enginetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	"github.com/causeway-pay/causeway/shared/clock"
)

// Noon is when the cases happen.
var Noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// The endpoints of the cases, by what the policy wants of them.
const (
	Path             = "/v1/transactions" // optional
	PathRequired     = "/v1/tokens"
	PathResponse     = "/v1/customers" // required of the answer
	PathOff          = "/v1/health"
	PathStrictForOne = "/v1/refunds" // optional, but the Strict merchant wants all of its requests encrypted
)

// MaxBody is how large an encrypted body of the cases may be: one that an elliptic key can fill.
const MaxBody = 240 << 10

// Strict is a merchant that demands encryption of all its own requests.
const Strict = "mer_0000000000003"

// World is what the cases are about: keys and an engine for them.
type World struct {
	Ring    *Ring
	EC      Key // of Merchant, as are all up to Foreign
	RSA     Key
	Gone    Key // no longer decrypts
	Foreign Key // decrypts for Other
	Reply   Key // of Merchant: the newest to encrypt answers with
	Older   Key // the one before, RSA
	Config  engine.Config
}

// keys are made once for all worlds of a test binary: RSA keys take their time.
var keys = sync.OnceValue(func() (w World) {
	tb := panics{}
	w.EC, w.RSA = NewKey(tb, engine.ECDHESA256KW, 0), NewKey(tb, engine.RSAOAEP256, 2048)
	w.Gone, w.Foreign = NewKey(tb, engine.ECDHESA256KW, 0), NewKey(tb, engine.ECDHESA256KW, 0)
	w.Reply, w.Older = NewKey(tb, engine.ECDHESA256KW, 0), NewKey(tb, engine.RSAOAEP256, 2048)
	return w
})

// panics is a testing.TB for what is made once and is no one test's.
type panics struct{ testing.TB }

func (panics) Helper()           {}
func (panics) Fatal(args ...any) { panic(args) }

// NewWorld makes a world.
func NewWorld(tb testing.TB) *World {
	tb.Helper()
	w := keys()
	w.Ring = &Ring{}
	w.Ring.Add(Merchant, w.EC)
	w.Ring.Add(Merchant, w.RSA)
	w.Ring.Add(Strict, w.EC)
	w.Ring.Add(Other, w.Foreign)
	w.Ring.AddResponse(Merchant, w.Older.Public())
	w.Ring.AddResponse(Merchant, w.Reply.Public())
	table, err := policy.New(policy.Config{
		Routes: []policy.Route{
			{Method: "POST", Path: PathRequired, MLE: policy.Required},
			{Path: PathResponse, Response: policy.Required},
			{Path: PathOff, MLE: policy.Off},
		},
		Merchants: map[string]policy.Merchant{Strict: {MLE: policy.Required, Response: policy.Required}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	w.Config = engine.Config{Keys: w.Ring, Policy: table, Clock: clock.NewFake(Noon), Settings: engine.Settings{MaxBody: MaxBody, Queue: time.Minute}} // what a busy machine decrypts waits for its turn
	return &w
}

// Engine makes the world's engine.
func (w *World) Engine(tb testing.TB) *engine.Engine {
	tb.Helper()
	e, err := engine.New(w.Config)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// Call is a caller that is a merchant.
func Call(merchant string) engine.Caller {
	return func(context.Context) (string, *engine.Problem) { return merchant, nil }
}
