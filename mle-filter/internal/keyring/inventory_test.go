package keyring_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/storetest"
	"github.com/causeway-pay/causeway/shared/clock"
)

// TestInventory checks that each key in the store is listed once. Its entry must have the start of
// its use and the time of its replacement by the schedule.
func TestInventory(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			c := clock.NewFake(birth)
			f := open(t, e.Source(t), c)
			first := f.current(t, ec).Current
			f.must(t, f.Fill)
			c.Advance(day)
			if _, err := f.rotateKeyset(t.Context(), false, quiet); err != nil {
				t.Fatal(err)
			}
			second := f.rotate(t, keyring.Rotate{Tenant: shop, Alg: ec})
			if err := keyring.Rewrap(t.Context(), f.db, kek(1), kek(2)); err != nil {
				t.Fatal(err)
			}
			all, err := f.Inventory(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			now, seen := birth.Add(day), map[string]int{}
			for _, s := range all {
				seen[s.Name]++
				switch {
				case s.Alg == "" || s.Use == "":
					t.Errorf("got %+v, want its algorithm and use", s)
				case s.Name == "key-encryption key" && !s.Since.Equal(now),
					s.Name == "spare key" && !s.Since.Equal(birth),
					s.Name == "keyset key" && s.Use == "encrypts private keys" && !s.Since.Equal(now),
					s.Name == "current key" && (s.ID != second.Current.Kid || !s.Since.Equal(now) || !s.Next.Equal(now.Add(90*day))),
					s.Name == "previous key" && (s.ID != first.Kid || !s.Since.Equal(birth) || !s.Next.Equal(now.Add(30*day))):
					t.Errorf("got %+v", s)
				}
			}
			for name, want := range map[string]int{
				"key-encryption key": 1, "HMAC key": 1, "keyset key": 2, "spare key": 1, "current key": 1, "previous key": 1,
				"response key": 0,
			} {
				if seen[name] != want {
					t.Errorf("%s: got %d, want %d", name, seen[name], want)
				}
			}
		})
	}
}

// TestAges checks that a current key is overdue from the time of its scheduled replacement on.
func TestAges(t *testing.T) {
	t.Parallel()
	for _, e := range storetest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			c := clock.NewFake(birth)
			f := open(t, e.Source(t), c)
			f.must(t, f.Maintain)
			if got := f.Ages(); got != (keyring.Ages{}) {
				t.Errorf("with no keys: got %+v", got)
			}
			f.current(t, ec)
			c.Advance(80 * day) // the next key is published late, to become current on the 94th day
			f.must(t, f.Maintain)
			f.must(t, f.Maintain) // it reads the key that the first call published
			want := keyring.Ages{Keyset: 80 * day, KEK: 80 * day}
			if got := f.Ages(); got != want {
				t.Errorf("in time: got %+v, want %+v", got, want)
			}
			if err := keyring.Rewrap(t.Context(), f.db, kek(1), kek(2)); err != nil {
				t.Fatal(err)
			}
			c.Advance(14*day + time.Hour)
			late := f.Ages() // Maintain has not run in the meantime
			if want := (keyring.Ages{Overdue: time.Hour, Keyset: 94*day + time.Hour, KEK: 94*day + time.Hour}); late != want {
				t.Errorf("late: got %+v, want %+v", late, want)
			}
			f.must(t, f.Maintain)
			f.must(t, f.Maintain) // it reads the rotation of the first call
			if got, want := f.Ages(), (keyring.Ages{Keyset: 94*day + time.Hour, KEK: 14*day + time.Hour}); got != want {
				t.Errorf("after the schedule: got %+v, want %+v", got, want)
			}
		})
	}
}
