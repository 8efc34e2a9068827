package mlefilter_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

const day = 24 * time.Hour

// fleet is two filters that share their keys. The third keyring has no clients and runs the
// schedule.
type fleet struct {
	a, b  *filter
	third *keyring.Keyring
}

func newFleet(t *testing.T) fleet {
	t.Helper()
	var f fleet
	source := ""
	f.a = open(t, func(c *mlefilter.Config) {
		source = c.Keys
		longQueue(c)
	})
	f.b = open(t, func(c *mlefilter.Config) {
		c.Keys, c.Clock = source, f.a.clock
		longQueue(c)
	})
	f.b.clock = f.a.clock
	db, err := keystore.Open(t.Context(), keystore.Config{Source: source, Clock: f.a.clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	f.third, err = keyring.Open(
		t.Context(), keyring.Config{Store: db, KEK: make([]byte, 32), Clock: f.a.clock, RSABits: 2048, Spares: 1},
	)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// fill makes spare RSA keys.
func (f fleet) fill(t *testing.T) {
	t.Helper()
	if err := f.third.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (f fleet) maintain(t *testing.T) {
	t.Helper()
	if err := f.third.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// rotations are the kinds of rotation. prepare runs before the payments. rotate rotates and returns
// the end of the old key.
var rotations = map[string]struct {
	prepare func(*testing.T, fleet)
	rotate  func(*testing.T, fleet, string) time.Time
}{
	"by API": {
		func(t *testing.T, f fleet) { t.Helper(); f.fill(t) },
		func(t *testing.T, f fleet, alg string) time.Time {
			t.Helper()
			if g := f.b.send(
				t, f.b.Client(), "POST", "/v1/mle/keys/rotate", `{"alg":"`+alg+`","expires_in":3600}`,
			); g.status != 200 {
				t.Errorf("rotate: got %d %s", g.status, g.body)
			}
			return f.a.clock.Now().Add(time.Hour)
		},
	},
	"by schedule": {
		func(t *testing.T, f fleet) {
			t.Helper()
			f.fill(t)
			f.a.clock.Advance(76 * day)
			f.maintain(t) // publishes the next key
			f.a.clock.Advance(14 * day)
		},
		func(t *testing.T, f fleet, _ string) time.Time {
			t.Helper()
			f.maintain(t)
			return f.a.clock.Now().Add(30 * day)
		},
	},
}

// TestRotationInFleet rotates in each way while clients pay at two filters, with both algorithms.
// No request fails. In both filters the old key works until its end and not later.
func TestRotationInFleet(t *testing.T) {
	t.Parallel()
	for name, way := range rotations {
		for _, alg := range []string{mle.ECDHESA256KW, mle.RSAOAEP256} {
			t.Run(name+"/"+alg, func(t *testing.T) {
				t.Parallel()
				f := newFleet(t)
				f.a.ready(t)
				own := f.a.register(t)
				paid := 0
				for range 2 {
					old := f.current(t, alg)
					payers := f.payers(t, alg, own)
					way.prepare(t, f)
					var ends time.Time
					paid += f.payWhile(t, payers, func() { ends = way.rotate(t, f, alg) })
					if got := f.current(t, alg).KeyID; got == old.KeyID {
						t.Error("there was no rotation")
					}
					paid += f.wantUntil(t, old, ends)
				}
				if got := len(f.a.core.got()) + len(f.b.core.got()); got != paid {
					t.Errorf("core got %d payments, want %d: each once", got, paid)
				}
			})
		}
	}
}

// current returns the key that clients encrypt to.
func (f fleet) current(t *testing.T, alg string) jose.JSONWebKey {
	t.Helper()
	g := f.a.send(t, f.a.Client(), "GET", "/v1/mle/keys/current?alg="+url.QueryEscape(alg), "")
	var rotated struct {
		JWK jose.JSONWebKey `json:"jwk"`
	}
	if err := json.Unmarshal([]byte(g.body), &rotated); err != nil || g.status != 200 {
		t.Fatalf("got %d %s, %v", g.status, g.body, err)
	}
	return rotated.JWK
}

// payer pays at one of the filters.
type payer struct {
	at     *filter
	client *http.Client
}

// payers returns clients that have not paid yet.
func (f fleet) payers(t *testing.T, alg string, own *jose.JSONWebKey) (out []payer) {
	t.Helper()
	for _, at := range []*filter{f.a, f.b, f.a, f.b, f.a, f.b} {
		out = append(out, payer{at, at.client(t, alg, own)})
	}
	return out
}

// payWhile lets all payers pay repeatedly, and calls do once all have begun. It returns the number
// of payments.
func (f fleet) payWhile(t *testing.T, payers []payer, do func()) int {
	t.Helper()
	const payments = 8
	var begun, pay sync.WaitGroup
	for _, p := range payers {
		begun.Add(1)
		pay.Go(func() {
			started := sync.OnceFunc(begun.Done)
			defer started() // if a request gets no response, this ends the wait
			for i := range payments {
				if g := p.at.send(t, p.client, "POST", "/v1/transactions", sale); g.status != 201 || g.body != response {
					t.Errorf("got %d %s", g.status, g.body)
				}
				if i == 0 {
					started()
				}
			}
		})
	}
	begun.Wait()
	do()
	pay.Wait()
	return len(payers) * payments
}

// wantUntil requires that a replaced key works until its end and not later, at both filters. It
// returns the number of payments.
func (f fleet) wantUntil(t *testing.T, key jose.JSONWebKey, ends time.Time) (paid int) {
	t.Helper()
	e, err := jose.NewEncrypter(
		jose.A256GCM, jose.Recipient{Algorithm: jose.KeyAlgorithm(key.Algorithm), Key: key.Key, KeyID: key.KeyID}, nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	object, err := e.Encrypt([]byte(sale))
	if err != nil {
		t.Fatal(err)
	}
	token, err := object.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	send := func(at *filter) got {
		return at.send(
			t, at.Client(), "POST", "/v1/transactions", token, "Content-Type", "application/jose", "X-SVC-MLE", "v1",
		)
	}
	f.a.clock.Set(ends.Add(-time.Millisecond))
	for _, at := range []*filter{f.a, f.b} {
		paid++
		if g := send(at); g.status != 201 {
			t.Errorf("a millisecond before its time: got %d %s", g.status, g.body)
		}
	}
	f.a.clock.Set(ends)
	for _, at := range []*filter{f.a, f.b} {
		if g := send(at); g.status != 400 || !strings.Contains(g.body, "mle_kid_unknown") {
			t.Errorf("at its time: got %d %s", g.status, g.body)
		}
	}
	return paid
}
