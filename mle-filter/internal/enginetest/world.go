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

// Noon is the time of the cases.
var Noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// The endpoints of the cases, by their policy.
const (
	Path             = "/v1/transactions" // optional
	PathRequired     = "/v1/tokens"
	PathResponse     = "/v1/customers" // required for the response
	PathOff          = "/v1/health"
	PathStrictForOne = "/v1/refunds" // optional, except for the merchant Strict
)

// MaxBody is the limit of an encrypted body in the cases. A message to a P-256 key can reach it.
const MaxBody = 240 << 10

// Strict is a merchant whose policy requires encryption in both directions.
const Strict = "mer_0000000000003"

// Keyless is a merchant without a response key.
const Keyless = "mer_0000000000004"

// World holds the keys of the cases and the configuration of their engine.
type World struct {
	Ring        *Ring
	EC          Key // of Merchant, as are all before Foreign
	RSA         Key
	Gone        Key // no longer decrypts
	Foreign     Key // decrypts for Other
	ResponseKey Key // the newest response key of Merchant
	Older       Key // its previous response key, RSA
	Config      engine.Config
}

// keys are made once for all worlds of a test binary, because RSA keys are slow to make.
var keys = sync.OnceValue(func() (w World) {
	tb := panics{}
	w.EC, w.RSA = NewKey(tb, engine.ECDHESA256KW, 0), NewKey(tb, engine.RSAOAEP256, 2048)
	w.Gone, w.Foreign = NewKey(tb, engine.ECDHESA256KW, 0), NewKey(tb, engine.ECDHESA256KW, 0)
	w.ResponseKey, w.Older = NewKey(tb, engine.ECDHESA256KW, 0), NewKey(tb, engine.RSAOAEP256, 2048)
	return w
})

// panics is a testing.TB for code that runs once for all tests.
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
	w.Ring.Add(Keyless, w.EC)
	w.Ring.Add(Keyless, w.RSA)
	w.Ring.Add(Other, w.Foreign)
	w.Ring.AddResponse(Merchant, w.Older.Public())
	w.Ring.AddResponse(Merchant, w.ResponseKey.Public())
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
	// Queue is long, because the machine may be busy
	w.Config = engine.Config{
		Keys: w.Ring, Policy: table, Clock: clock.NewFake(Noon),
		Settings: engine.Settings{MaxBody: MaxBody, Queue: time.Minute},
	}
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

// Call returns a caller with that merchant.
func Call(merchant string) engine.Caller {
	return func(context.Context) (string, *engine.Problem) { return merchant, nil }
}
