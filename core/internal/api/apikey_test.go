package api_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// createKey makes a key by the API and returns it with its secret.
func (b *bundle) createKey(t *testing.T, body string, options ...option) (v1.APIKey, string) {
	t.Helper()
	k := MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys", body, options...), 201)
	if k.Secret == nil {
		t.Fatal("no secret")
	}
	return k, k.Secret.Reveal()
}

// currentID returns the id of a key.
func (b *bundle) currentID(t *testing.T, key string) string {
	t.Helper()
	return MustDecode[v1.APIKey](t, b.get(t, "/v1/api_keys/current", as(key)), 200).ID
}

// wantDead checks that every route rejects a key.
func (b *bundle) wantDead(t *testing.T, key string) {
	t.Helper()
	wantRefusal(t, b.get(t, "/v1/transactions", as(key)), refusal{401, v1.ErrorTypeAuthenticationError, "invalid_api_key", ""})
}

func TestCreateKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		body, prefix, name string
		scopes             int
	}{
		{`{"kind":"secret"}`, "sk_test_", "", 13},
		{`{"kind":"secret","name":"Büro","scopes":["refunds:create","transactions:read","refunds:create"]}`, "sk_test_", "Büro", 2},
		{`{"kind":"publishable","expires_at":"2026-11-21T09:30:00.001Z"}`, "pk_test_", "", 2},
		{`{"kind":"publishable","scopes":["tokens:create"]}`, "pk_test_", "", 1},
	} {
		k, key := b.createKey(t, c.body)
		name := ""
		if k.Name != nil {
			name = *k.Name
		}
		if !strings.HasPrefix(key, c.prefix) || k.Hint != key[len(key)-4:] || len(k.Scopes) != c.scopes || name != c.name ||
			k.Mode != v1.ModeTest || k.Merchant != b.merchant || k.Status != v1.APIKeyStatusActive || k.LastUsedAt != nil {
			t.Errorf("%s: got %+v", c.body, k)
		}
		if k.Kind == v1.APIKeyKindSecret {
			got := MustDecode[v1.APIKey](t, b.get(t, "/v1/api_keys/current", as(key)), 200)
			if got.ID != k.ID || !slices.Equal(got.Scopes, k.Scopes) || got.Secret != nil {
				t.Errorf("current: got %+v", got)
			}
		}
	}
	live := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"})
	if k, key := b.createKey(t, `{"kind":"secret"}`, as(live)); k.Mode != v1.ModeLive || !strings.HasPrefix(key, "sk_live_") {
		t.Errorf("a live key made a key of mode %s", k.Mode)
	}
}

func TestCreateKeyRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	bad := func(param string) refusal { return invalid("invalid_value", param) }
	b.wantRefused(t, "/v1/api_keys", []badInput{
		{"no kind", `{}`, invalid("missing_field", "kind"), nil},
		{"another kind", `{"kind":"root"}`, bad("kind"), nil},
		{"another scope", `{"kind":"secret","scopes":["everything"]}`, bad("scopes"), nil},
		{"no scope", `{"kind":"secret","scopes":[]}`, bad("scopes"), nil},
		{"a secret key's scope", `{"kind":"publishable","scopes":["refunds:create"]}`, bad("scopes"), nil},
		{"long name", `{"kind":"secret","name":"` + strings.Repeat("é", 101) + `"}`, bad("name"), nil},
		{"expired", `{"kind":"secret","expires_at":"2026-11-21T09:30:00.000Z"}`, bad("expires_at"), nil},
		{"no time", `{"kind":"secret","expires_at":"tomorrow"}`, invalid("invalid_value", "expires_at"), nil},
		{"another mode", `{"kind":"secret","mode":"live"}`, invalid("unknown_field", "mode"), nil},
		{"null", `{"kind":"secret","name":null}`, invalid("invalid_type", "name"), nil},
	})
}

// TestKeysGiveNoMoreThanTheyHave: a key that may manage keys cannot make, roll or revoke a key with
// a scope that it lacks. It makes no difference whether the key is active or revoked.
func TestKeysGiveNoMoreThanTheyHave(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, few := b.createKey(t, `{"kind":"secret","scopes":["keys:write","transactions:read"]}`)
	lacks := refusal{403, v1.ErrorTypePermissionError, "insufficient_scope", "scopes"}
	before := b.rows(t)
	wantRefusal(t, b.post(t, "/v1/api_keys", `{"kind":"secret","scopes":["transactions:read","refunds:create"]}`, as(few)), lacks)
	wantRefusal(t, b.post(t, "/v1/api_keys", `{"kind":"publishable","scopes":["tokens:create"]}`, as(few)), lacks)
	wantRefusal(t, b.post(t, "/v1/api_keys/"+b.currentID(t, b.key)+"/roll", "", as(few)), lacks)
	for _, force := range []string{"", "?force=true"} {
		wantRefusal(t, b.do(t, "DELETE", "/v1/api_keys/"+b.currentID(t, b.key)+force, "", as(few)), lacks)
	}
	if got, want := b.rows(t), before; got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
	k, _ := b.createKey(t, `{"kind":"secret"}`, as(few))
	if want := []string{"transactions:read", "keys:write"}; !slices.Equal(k.Scopes, want) {
		t.Errorf("by default: got %v, want %v", k.Scopes, want)
	}
	// A key with fewer scopes that repeats the request of another key does not get its response.
	first := b.post(t, "/v1/api_keys", `{"kind":"secret"}`, keyed("k"))
	wantKeyReused(t, b.post(t, "/v1/api_keys", `{"kind":"secret"}`, keyed("k"), as(few)))
	wantReplay(t, b.post(t, "/v1/api_keys", `{"kind":"secret"}`, keyed("k")), first)
}

// TestKeysStayCached: a request about a key that does not exist makes core read no key again. After
// a change of a key, core reads the keys of its merchant again, and no others. The keys here are
// revoked in the database, so that a read shows.
func TestKeysStayCached(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, method, path string
		status             int
		reads              bool // the merchant's own keys
	}{
		{"roll of a missing key", "POST", "/v1/api_keys/key_0000000000001/roll", 404, false},
		{"revocation of a missing key", "DELETE", "/v1/api_keys/key_0000000000001", 404, false},
		{"roll", "POST", "/v1/api_keys/{id}/roll", 201, true},
		{"revocation", "DELETE", "/v1/api_keys/{id}", 200, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			last, _ := b.createKey(t, `{"kind":"secret"}`)
			_, own := b.createKey(t, `{"kind":"secret"}`)
			merchant := coretest.MustCreateMerchant(t, b.core.Admin())
			other := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: merchant, Mode: "test", Kind: "secret"})
			for _, key := range []string{own, other, b.key} {
				MustDecode[page](t, b.get(t, "/v1/transactions", as(key)), 200)
			}
			for _, key := range []string{own, other} {
				b.database.MustExec(t, "UPDATE api_keys SET revoked_at = 1 WHERE hint = '"+key[len(key)-4:]+"'")
			}
			a := b.do(t, c.method, strings.Replace(c.path, "{id}", last.ID, 1), "")
			if a.status != c.status {
				t.Fatalf("got %d, want %d", a.status, c.status)
			}
			MustDecode[page](t, b.get(t, "/v1/transactions", as(other)), 200)
			if c.reads {
				b.wantDead(t, own)
				return
			}
			MustDecode[page](t, b.get(t, "/v1/transactions", as(own)), 200)
		})
	}
}

// TestNoSecretIsStored: the response that shows a key is replayed byte by byte, also by the next
// process. The key is stored nowhere.
func TestNoSecretIsStored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	created := b.post(t, "/v1/api_keys", `{"kind":"secret","name":"first"}`, keyed("create"))
	k := MustDecode[v1.APIKey](t, created, 201)
	rolled := b.post(t, "/v1/api_keys/"+k.ID+"/roll", `{"expires_in":60}`, keyed("roll"))
	next := MustDecode[v1.APIKey](t, rolled, 201)
	_, unkeyed := b.createKey(t, `{"kind":"secret"}`)
	replay := func() {
		wantReplay(t, b.post(t, "/v1/api_keys", `{"name":"first","kind":"secret"}`, keyed("create")), created)
		wantReplay(t, b.post(t, "/v1/api_keys/"+k.ID+"/roll", `{"expires_in":60}`, keyed("roll")), rolled)
	}
	replay()
	b.restart(t)
	replay()
	if got := MustDecode[v1.IdempotencyKeyRecord](t, b.get(t, "/v1/idempotency_keys/roll"), 200); got.Resource == nil || *got.Resource != next.ID {
		t.Errorf("the key's record: got %+v", got)
	}
	b.clock.Advance(time.Minute)
	b.restart(t)
	for path, content := range b.database.Files(t, b.dir) {
		for _, secret := range []string{k.Secret.Reveal(), next.Secret.Reveal(), unkeyed, b.key} {
			if bytes.Contains(content, []byte(secret)) || bytes.Contains(content, []byte(secret[8:40])) {
				t.Errorf("%s holds a key", path)
			}
		}
	}
	if logs := b.logs.String(); strings.Contains(logs, unkeyed[8:]) || strings.Contains(logs, next.Secret.Reveal()[8:]) {
		t.Error("the log holds a key")
	}
}

func TestRollKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	old, oldKey := b.createKey(t, `{"kind":"secret","name":"till","scopes":["transactions:read","keys:write"]}`)
	next := MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys/"+old.ID+"/roll", ""), 201)
	if next.ID == old.ID || next.Kind != old.Kind || next.Mode != old.Mode || *next.Name != "till" || !slices.Equal(next.Scopes, old.Scopes) ||
		next.Status != v1.APIKeyStatusActive || next.ExpiresAt != nil {
		t.Errorf("got %+v of %+v", next, old)
	}
	got := MustDecode[v1.APIKey](t, b.get(t, "/v1/api_keys/current", as(oldKey)), 200)
	if got.Status != v1.APIKeyStatusRolled || *got.ReplacedBy != next.ID || !got.ExpiresAt.Equal(birth.Add(24*time.Hour)) {
		t.Errorf("the old key: got %+v", got)
	}
	event := b.text(t, "SELECT data FROM events WHERE type = 'api_key.rolled'")
	if !strings.Contains(event, old.ID) || !strings.Contains(event, next.ID) || strings.Contains(event, "secret\":") {
		t.Errorf("event: got %s", event)
	}
	notRollable := refusal{409, v1.ErrorTypeInvalidRequestError, "api_key_not_rollable", ""}
	refused := b.post(t, "/v1/api_keys/"+old.ID+"/roll", "", keyed("again"))
	wantRefusal(t, refused, notRollable)
	wantReplay(t, b.post(t, "/v1/api_keys/"+old.ID+"/roll", "", keyed("again")), refused)

	b.clock.Set(birth.Add(24*time.Hour - time.Second))
	MustDecode[page](t, b.get(t, "/v1/transactions", as(oldKey)), 200)
	b.clock.Set(birth.Add(24 * time.Hour))
	b.wantDead(t, oldKey)
	b.clock.Set(birth.Add(24*time.Hour + time.Second))
	b.wantDead(t, oldKey)
	MustDecode[page](t, b.get(t, "/v1/transactions", as(next.Secret.Reveal())), 200)
	wantRefusal(t, b.post(t, "/v1/api_keys/"+old.ID+"/roll", ""), notRollable)
}

func TestRollKeyEarlier(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, first := b.createKey(t, `{"kind":"secret"}`)
	// A key that rolls itself without overlap ends before the response is read, although it was used a
	// moment ago.
	next := MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys/"+b.currentID(t, first)+"/roll", `{"expires_in":0}`, as(first)), 201)
	b.wantDead(t, first)
	// The roll of a key with an expiry does not extend it, and its successor has the same expiry.
	soon, soonKey := b.createKey(t, `{"kind":"secret","expires_at":"2026-11-21T10:30:00Z"}`)
	heir := MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys/"+soon.ID+"/roll", `{"expires_in":86400}`), 201)
	if !heir.ExpiresAt.Equal(birth.Add(time.Hour)) {
		t.Errorf("the successor expires at %s", heir.ExpiresAt)
	}
	b.clock.Advance(time.Hour)
	b.wantDead(t, soonKey)
	b.wantDead(t, heir.Secret.Reveal())
	for _, body := range []string{`{"expires_in":-1}`, `{"expires_in":86401}`} {
		wantRefusal(t, b.post(t, "/v1/api_keys/"+next.ID+"/roll", body), invalid("invalid_value", "expires_in"))
	}
	wantRefusal(t, b.post(t, "/v1/api_keys/"+next.ID+"/roll", `{"expires_in":1.5}`), invalid("invalid_type", "expires_in"))
	wantRefusal(t, b.post(t, "/v1/api_keys/key_0000000000001/roll", ""), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
}

// TestTwoRollsAtOnce: of two concurrent rolls one succeeds, and there is one successor.
func TestTwoRollsAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 20 {
		k, _ := b.createKey(t, `{"kind":"secret"}`)
		var wg sync.WaitGroup
		statuses := make([]int, 4)
		for i := range statuses {
			wg.Go(func() {
				if a, err := b.try(t, "POST", "/v1/api_keys/"+k.ID+"/roll", ""); err == nil {
					statuses[i] = a.status
				}
			})
		}
		wg.Wait()
		slices.Sort(statuses)
		if want := []int{201, 409, 409, 409}; !slices.Equal(statuses, want) {
			t.Fatalf("got %v, want %v", statuses, want)
		}
	}
	if got, want := b.number(t, "SELECT COUNT(*) FROM api_keys"), int64(41); got != want {
		t.Errorf("keys: got %d, want %d", got, want)
	}
	if got, want := b.number(t, "SELECT COUNT(*) FROM events WHERE type = 'api_key.rolled'"), int64(20); got != want {
		t.Errorf("events: got %d, want %d", got, want)
	}
}

func TestRevokeKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	own := b.currentID(t, b.key)
	k, key := b.createKey(t, `{"kind":"secret","scopes":["transactions:read"]}`)
	MustDecode[page](t, b.get(t, "/v1/transactions", as(key)), 200) // so that this process caches the key
	revoke := func(id string) response { return b.do(t, "DELETE", "/v1/api_keys/"+id, "") }
	got := MustDecode[v1.APIKey](t, revoke(k.ID), 200)
	if got.Status != v1.APIKeyStatusRevoked || !got.RevokedAt.Equal(birth) {
		t.Errorf("got %+v", got)
	}
	b.wantDead(t, key)
	b.clock.Advance(time.Minute)
	if again := MustDecode[v1.APIKey](t, revoke(k.ID), 200); !again.RevokedAt.Equal(birth) {
		t.Errorf("again: revoked at %s", again.RevokedAt)
	}
	wantRefusal(t, b.post(t, "/v1/api_keys/"+k.ID+"/roll", ""), refusal{409, v1.ErrorTypeInvalidRequestError, "api_key_not_rollable", ""})

	last := refusal{409, v1.ErrorTypeInvalidRequestError, "last_api_key", ""}
	wantRefusal(t, revoke(own), last)
	other, _ := b.createKey(t, `{"kind":"secret"}`)
	rolled := MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys/"+other.ID+"/roll", ""), 201)
	MustDecode[v1.APIKey](t, revoke(rolled.ID), 200)
	wantRefusal(t, revoke(own), last) // the rolled key is valid, but not for long
	wantRefusal(t, b.do(t, "DELETE", "/v1/api_keys/"+own+"?force=yes", ""), invalid("invalid_value", "force"))
	wantRefusal(t, b.do(t, "DELETE", "/v1/api_keys/"+own+"?now=true", ""), invalid("unknown_parameter", "now"))
	wantRefusal(t, revoke("key_0000000000001"), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
	MustDecode[v1.APIKey](t, b.do(t, "DELETE", "/v1/api_keys/"+own+"?force=true", ""), 200)
	b.wantDead(t, b.key)
}

// TestTwoLastKeysAtOnce: of the last two keys that manage keys, only one can be revoked, in any
// order of the requests.
func TestTwoLastKeysAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 10 {
		other, otherKey := b.createKey(t, `{"kind":"secret"}`)
		ids, keys := []string{b.currentID(t, b.key), other.ID}, []string{b.key, otherKey}
		statuses := make([]int, 2)
		var wg sync.WaitGroup
		for i := range ids {
			wg.Go(func() {
				if a, err := b.try(t, "DELETE", "/v1/api_keys/"+ids[i], "", as(keys[1-i])); err == nil {
					statuses[i] = a.status
				}
			})
		}
		wg.Wait()
		if statuses[0] == statuses[1] {
			t.Fatalf("got %v", statuses)
		}
		if statuses[0] == 200 {
			b.key = otherKey
		}
	}
}

func TestListKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := []string{b.currentID(t, b.key)}
	for i := range 5 {
		k, _ := b.createKey(t, fmt.Sprintf(`{"kind":"secret","name":"till %d"}`, i))
		ids = slices.Insert(ids, 0, k.ID)
	}
	coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"})
	coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: coretest.MustCreateMerchant(t, b.core.Admin()), Mode: "test", Kind: "secret"})
	b.walk(t, "/v1/api_keys?", ids)
	a := b.get(t, "/v1/api_keys")
	MustDecode[v1.APIKeyList](t, a, 200)
	if bytes.Contains(a.body, []byte("sk_test_")) || bytes.Contains(a.body, []byte(`"secret":`)) {
		t.Errorf("the list shows a secret: %s", a.body)
	}
}

// TestGetKey: a key that manages keys reads each key of its merchant and mode, also a revoked one,
// and never its secret. The keys of other merchants and of the other mode do not exist for it.
func TestGetKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made, _ := b.createKey(t, `{"kind":"publishable","name":"shop"}`)
	made.Secret = nil
	if got := MustDecode[v1.APIKey](t, b.get(t, "/v1/api_keys/"+made.ID), 200); !reflect.DeepEqual(got, made) {
		t.Errorf("got %+v, want %+v", got, made)
	}
	b.do(t, "DELETE", "/v1/api_keys/"+made.ID, "")
	if got := MustDecode[v1.APIKey](t, b.get(t, "/v1/api_keys/"+made.ID), 200); got.Status != v1.APIKeyStatusRevoked {
		t.Errorf("revoked: got %+v", got)
	}
	live := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"})
	other, err := b.core.Admin().CreateMerchant(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	stranger := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: other, Mode: "test", Kind: "secret"})
	gone := refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"}
	for _, key := range []string{live, stranger} {
		wantRefusal(t, b.get(t, "/v1/api_keys/"+made.ID, as(key)), gone)
	}
	wantRefusal(t, b.get(t, "/v1/api_keys/key_1"), gone)
	_, narrow := b.createKey(t, `{"kind":"secret","scopes":["transactions:read"]}`)
	if got := b.get(t, "/v1/api_keys/"+made.ID, as(narrow)); got.status != 403 {
		t.Errorf("without keys:write: got %d %s", got.status, got.body)
	}
}

// TestLastUse: the last use of a key is shown immediately, and is stored when the service ends.
func TestLastUse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	k, key := b.createKey(t, `{"kind":"secret"}`)
	used := func() *v1.Time {
		for _, got := range MustDecode[v1.APIKeyList](t, b.get(t, "/v1/api_keys"), 200).Data {
			if got.ID == k.ID {
				return got.LastUsedAt
			}
		}
		t.Fatal("the key is not in the list")
		return nil
	}
	if got := used(); got != nil {
		t.Errorf("never used: got %s", got)
	}
	b.clock.Advance(90 * time.Second)
	MustDecode[page](t, b.get(t, "/v1/transactions", as(key)), 200)
	b.clock.Advance(time.Hour)
	for range 2 {
		if got, want := used(), birth.Add(time.Minute); got == nil || !got.Equal(want) {
			t.Errorf("got %v, want %s", got, want)
		}
		b.restart(t)
	}
}
