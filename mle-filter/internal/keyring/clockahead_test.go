package keyring_test

import (
	"errors"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/mle-filter/internal/storetest"
)

// TestNoKeyEndsByAClockThatIsAhead tests a clock that is set a year ahead, while filters run or
// before one starts. It wipes no private key that still decrypts, and deletes no stored response.
// Once the clock has stayed for an hour, a key that retired long ago is removed.
func TestNoKeyEndsByAClockThatIsAhead(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			const year = 365 * day
			source := e.Source(t)
			a, _ := two(t, source)
			first := a.current(t, ec).Current
			a.clock.Advance(2 * time.Hour)
			a.must(t, a.Maintain)
			keep := day
			once := keyring.Rotate{Tenant: shop, Alg: ec, Keep: &keep, Once: keyring.Once{Key: "k", Fingerprint: []byte("f")}}
			var second keyring.Key
			_, err := a.Rotate(t.Context(), once, func(r keyring.Rotated) keyring.Response {
				second = r.Current
				return keyring.Response{Status: 200, Body: []byte("{}")}
			})
			if err != nil {
				t.Fatal(err)
			}
			a.clock.Step(year)
			a.must(t, a.Maintain)
			started := open(t, source, a.clock)
			started.must(t, started.Maintain)
			a.clock.Step(-year)
			for _, f := range []filter{a, started} {
				for _, k := range []keyring.Key{first, second} {
					if err := f.works(t, shop, k); err != nil {
						t.Errorf("%s: %v", k.Kid, err)
					}
				}
			}
			_, err = a.Rotate(t.Context(), once, func(keyring.Rotated) keyring.Response {
				t.Error("a repeated request rotated again")
				return keyring.Response{}
			})
			if err != nil {
				t.Error(err)
			}
			a.clock.Step(year)
			a.must(t, a.Maintain)
			a.clock.Advance(time.Hour)
			a.must(t, a.Maintain)
			if _, err := a.db.Key(t.Context(), first.Kid); !errors.Is(err, keystore.ErrNotFound) {
				t.Errorf("an hour later: got %v, want the retired key removed", err)
			}
		})
	}
}
