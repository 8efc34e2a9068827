package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/httpx"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// setupHop opens a service with a hop in front, which forwards the address of the client.
func setupHop(t *testing.T) *bundle {
	t.Helper()
	return openBundle(t, &bundle{rateLimit: -1, hop: hopSecret})
}

// at makes a request one of a client with an address, through the hop.
func at(address string) option {
	return func(r *request) {
		header(httpx.ClientAddressField, address)(r)
		header(httpx.HopField, hopSecret)(r)
	}
}

var (
	addressRefused = refusal{403, v1.ErrorTypePermissionError, "address_not_allowed", ""}
	originRefused  = refusal{403, v1.ErrorTypePermissionError, "origin_not_allowed", ""}
)

// TestKeyAddresses: a key with a list of addresses works from these addresses alone, also if it was
// just used from one of them. A refusal does not reveal the list. It counts towards no limit of the
// key.
func TestKeyAddresses(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: 10, hop: hopSecret})
	k, key := b.createKey(t, `{"kind":"secret","allowed_addresses":["203.0.113.0/24","198.51.100.7","2001:DB8:1::/48"]}`, at("192.0.2.1"))
	if want := []string{"203.0.113.0/24", "198.51.100.7/32", "2001:db8:1::/48"}; k.AllowedAddresses == nil || !slices.Equal(*k.AllowedAddresses, want) {
		t.Errorf("got the addresses %v, want %q", k.AllowedAddresses, want)
	}
	const body = `{"amount":1,"currency":"usd","payment_method":"pm_card_visa"}`
	for range 30 { // more than the rate limit
		got := b.post(t, "/v1/transactions", body, as(key), at("203.0.114.1"))
		wantRefusal(t, got, addressRefused)
		if strings.Contains(string(got.body), "203.0.113") || strings.Contains(string(got.body), "198.51") {
			t.Fatalf("the refusal reveals the list: %s", got.body)
		}
	}
	for i, allowed := range []string{"203.0.113.0", "203.0.113.255", "198.51.100.7", "2001:db8:1::1", "::ffff:203.0.113.9"} {
		MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", body, as(key), at(allowed), keyed(fmt.Sprint(i))), 201)
		wantRefusal(t, b.post(t, "/v1/transactions", body, as(key), at("203.0.112.255"), keyed(fmt.Sprint(i))), addressRefused)
	}
	for _, other := range []option{
		at("198.51.100.8"), at("2001:db8:2::1"), at("::1"), at("garbage"), // no address
		header("X-Forwarded-For", "203.0.113.1"),                  // of no hop of ours: the address is 127.0.0.1
		header(httpx.ClientAddressField, "203.0.113.1"),           // without the hop secret
		func(r *request) { header(httpx.HopField, hopSecret)(r) }, // without an address
	} {
		wantRefusal(t, b.get(t, "/v1/transactions", as(key), other), addressRefused)
		wantRefusal(t, b.get(t, "/v1/api_keys/current", as(key), other), addressRefused)
	}
	if got := MustDecode[v1.APIKey](t, b.get(t, "/v1/api_keys/current", as(key), at("203.0.113.1")), 200); got.ID != k.ID || len(*got.AllowedAddresses) != 3 {
		t.Errorf("got %+v", got)
	}
}

// TestRolledKeyRestrictions: the new key has the lists of the old one, unless the roll has others.
// The old key keeps its own.
func TestRolledKeyRestrictions(t *testing.T) {
	t.Parallel()
	b := setupHop(t)
	roll := func(id, body string) (v1.APIKey, option) {
		t.Helper()
		k := MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys/"+id+"/roll", body), 201)
		return k, as(k.Secret.Reveal())
	}
	first, key := b.createKey(t, `{"kind":"publishable","allowed_addresses":["203.0.113.1"],"allowed_origins":["https://a.example"]}`)
	second, inherited := roll(first.ID, "")
	third, moved := roll(second.ID, `{"allowed_addresses":["203.0.113.2"],"allowed_origins":["https://b.example"]}`)
	_, open := roll(third.ID, `{"allowed_addresses":[],"allowed_origins":[]}`)
	for _, c := range []struct {
		key     option
		allowed [2]bool // at the first and at the second address
		pages   [2]bool // of the first and the second origin, at the allowed address
	}{
		{as(key), [2]bool{true, false}, [2]bool{true, false}},
		{inherited, [2]bool{true, false}, [2]bool{true, false}},
		{moved, [2]bool{false, true}, [2]bool{false, true}},
		{open, [2]bool{true, true}, [2]bool{true, true}},
	} {
		for i, address := range []option{at("203.0.113.1"), at("203.0.113.2")} {
			for j, page := range []option{header("Origin", "https://a.example"), header("Origin", "https://b.example")} {
				got := b.post(t, "/v1/tokens", visa, c.key, address, page)
				switch {
				case !c.allowed[i]:
					wantRefusal(t, got, addressRefused)
				case !c.pages[j]:
					wantRefusal(t, got, originRefused)
				default:
					MustDecode[v1.Token](t, got, 201)
				}
			}
		}
	}
	secret, _ := b.createKey(t, `{"kind":"secret"}`)
	wantRefusal(t, b.post(t, "/v1/api_keys/"+secret.ID+"/roll", `{"allowed_origins":["https://a.example"]}`), invalid("invalid_value", "allowed_origins"))
	roll(secret.ID, `{"allowed_addresses":["203.0.113.1"]}`)
}

// TestRestrictedKeyMakesKeys: a secret key that is limited to addresses makes no secret key that
// works from others, by a creation or a roll. Payers use a publishable key from everywhere.
func TestRestrictedKeyMakesKeys(t *testing.T) {
	t.Parallel()
	b := setupHop(t)
	home := at("203.0.113.9")
	limited, key := b.createKey(t, `{"kind":"secret","allowed_addresses":["203.0.113.0/24","2001:db8::/32"]}`)
	open, _ := b.createKey(t, `{"kind":"secret"}`)
	inherits, child := b.createKey(t, `{"kind":"secret"}`, as(key), home)
	if inherits.AllowedAddresses == nil || !slices.Equal(*inherits.AllowedAddresses, *limited.AllowedAddresses) {
		t.Errorf("got the addresses %v, want the creator's", inherits.AllowedAddresses)
	}
	wantRefusal(t, b.get(t, "/v1/transactions", as(child), at("198.51.100.1")), addressRefused)
	outside := invalid("invalid_value", "allowed_addresses")
	for list, want := range map[string]bool{
		`["203.0.113.7"]`: true, `["203.0.113.128/25","2001:db8:1::/48"]`: true, `["203.0.113.0/24"]`: true, `[]`: true,
		`["203.0.112.0/23"]`: false, `["203.0.113.7","198.51.100.1"]`: false, `["::/0"]`: false, `["0.0.0.0/0"]`: false,
	} {
		got := b.post(t, "/v1/api_keys", `{"kind":"secret","allowed_addresses":`+list+`}`, as(key), home)
		if !want {
			wantRefusal(t, got, outside)
		} else if made := MustDecode[v1.APIKey](t, got, 201); made.AllowedAddresses == nil {
			t.Errorf("%s: the key works from all addresses", list)
		}
	}
	wantRefusal(t, b.post(t, "/v1/api_keys/"+open.ID+"/roll", "", as(key), home), outside)
	wantRefusal(t, b.post(t, "/v1/api_keys/"+inherits.ID+"/roll", `{"allowed_addresses":[]}`, as(key), home), outside)
	MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys/"+inherits.ID+"/roll", "", as(key), home), 201)
	// The repeated request of a key without a list does not return that key's response.
	const makes, rolls = `{"kind":"secret","name":"office"}`, "/v1/api_keys/"
	MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys", makes, keyed("make")), 201)
	MustDecode[v1.APIKey](t, b.post(t, rolls+open.ID+"/roll", "", keyed("roll")), 201)
	wantKeyReused(t, b.post(t, "/v1/api_keys", makes, as(key), home, keyed("make")))
	wantKeyReused(t, b.post(t, rolls+open.ID+"/roll", "", as(key), home, keyed("roll")))
	publishable, _ := b.createKey(t, `{"kind":"publishable"}`, as(key), home)
	if publishable.AllowedAddresses != nil {
		t.Errorf("a publishable key: got the addresses %v, want all", *publishable.AllowedAddresses)
	}
}

// TestEndingKeyMakesKeys: no key outlasts the key that makes it, by a creation or a roll. A rolled
// key ends, too.
func TestEndingKeyMakesKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	later := invalid("invalid_value", "expires_at")
	lasting, _ := b.createKey(t, `{"kind":"secret"}`)
	ending, key := b.createKey(t, `{"kind":"secret","expires_at":"2026-11-21T10:30:00Z"}`)
	for body, want := range map[string]time.Duration{
		`{"kind":"secret"}`: time.Hour, `{"kind":"publishable"}`: time.Hour,
		`{"kind":"secret","expires_at":"2026-11-21T10:30:00Z"}`: time.Hour,
		`{"kind":"secret","expires_at":"2026-11-21T10:00:00Z"}`: time.Hour / 2,
	} {
		if k, _ := b.createKey(t, body, as(key)); k.ExpiresAt == nil || !k.ExpiresAt.Equal(birth.Add(want)) {
			t.Errorf("%s: the key ends at %v, want %s from now", body, k.ExpiresAt, want)
		}
	}
	wantRefusal(t, b.post(t, "/v1/api_keys", `{"kind":"secret","expires_at":"2026-11-21T10:30:00.001Z"}`, as(key)), later)
	wantRefusal(t, b.post(t, "/v1/api_keys/"+lasting.ID+"/roll", "", as(key)), later)
	// The repeated request of a key without an end does not return that key's response.
	const makes = `{"kind":"secret","name":"office"}`
	MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys", makes, keyed("make")), 201)
	wantKeyReused(t, b.post(t, "/v1/api_keys", makes, as(key), keyed("make")))
	heir := MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys/"+ending.ID+"/roll", `{"expires_in":60}`, as(key)), 201)
	if k, _ := b.createKey(t, `{"kind":"secret"}`, as(key)); !k.ExpiresAt.Equal(birth.Add(time.Minute)) {
		t.Errorf("by a rolled key: the key ends at %v, want a minute from now", k.ExpiresAt)
	}
	wantRefusal(t, b.post(t, "/v1/api_keys/"+heir.ID+"/roll", "", as(key)), later)
}

// TestKeyOrigins: a publishable key with origins works on pages of these alone. A page can read the
// refusal, so that the browser's console shows it. A request without an Origin is not a page's.
func TestKeyOrigins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	k, key := b.createKey(t, `{"kind":"publishable","allowed_origins":["https://shop.example","http://localhost:8000","http://[::1]:3000"]}`)
	if want := []string{"https://shop.example", "http://localhost:8000", "http://[::1]:3000"}; k.AllowedOrigins == nil || !slices.Equal(*k.AllowedOrigins, want) {
		t.Errorf("got the origins %v, want %q", k.AllowedOrigins, want)
	}
	for _, allowed := range []option{
		header("Origin", "https://shop.example"), header("Origin", "http://localhost:8000"), header("Origin", "http://[::1]:3000"), header("Origin"),
	} {
		MustDecode[v1.Token](t, b.post(t, "/v1/tokens", visa, as(key), allowed), 201)
	}
	u := b.MustPrepare(t, "")
	for _, other := range []option{
		header("Origin", "https://other.example"), header("Origin", "http://shop.example"), header("Origin", "https://shop.example:8443"),
		header("Origin", "https://www.shop.example"), header("Origin", "null"), header("Origin", ""),
		header("Origin", "https://shop.example", "https://other.example"),
	} {
		got := b.post(t, "/v1/tokens", visa, as(key), other)
		wantRefusal(t, got, originRefused)
		if got.header.Get("Access-Control-Allow-Origin") != "*" || strings.Contains(string(got.body), "shop.example") {
			t.Errorf("got %v %s, want a refusal that a page can read, without the list", got.header, got.body)
		}
		wantRefusal(t, b.confirm(t, u.id, u.proven(`,"payment_method":"pm_card_visa"`), as(key), other), originRefused)
	}
	MustDecode[v1.Transaction](t, b.confirm(t, u.id, u.proven(`,"payment_method":"pm_card_visa"`), as(key), header("Origin", "https://shop.example")), 200)
}

// TestKeyRestrictionRefusals: no key has a list that no client can match, or a longer one.
func TestKeyRestrictionRefusals(t *testing.T) {
	t.Parallel()
	b := setup(t)
	bad := func(param string) refusal { return invalid("invalid_value", param) }
	many := strings.Repeat(`"203.0.113.1",`, 32) + `"203.0.113.1"`
	b.wantRefused(t, "/v1/api_keys", []badInput{
		{"no address", `{"kind":"secret","allowed_addresses":["shop.example"]}`, bad("allowed_addresses"), nil},
		{"host bits", `{"kind":"secret","allowed_addresses":["203.0.113.1/24"]}`, bad("allowed_addresses"), nil},
		{"33 addresses", `{"kind":"secret","allowed_addresses":[` + many + `]}`, bad("allowed_addresses"), nil},
		{"a number", `{"kind":"secret","allowed_addresses":[1]}`, invalid("invalid_type", "allowed_addresses.0"), nil},
		{"a path", `{"kind":"publishable","allowed_origins":["https://shop.example/"]}`, bad("allowed_origins"), nil},
		{"all origins", `{"kind":"publishable","allowed_origins":["*"]}`, bad("allowed_origins"), nil},
		{"origins of a secret key", `{"kind":"secret","allowed_origins":["https://shop.example"]}`, bad("allowed_origins"), nil},
	})
	k, _ := b.createKey(t, `{"kind":"secret","allowed_addresses":[],"allowed_origins":[]}`)
	if k.AllowedAddresses != nil || k.AllowedOrigins != nil {
		t.Errorf("got %v and %v of empty lists, want no fields", k.AllowedAddresses, k.AllowedOrigins)
	}
}

// TestKeyRestrictionsOfOperators: an operator sets the lists of a merchant's key, too.
func TestKeyRestrictionsOfOperators(t *testing.T) {
	t.Parallel()
	b := openBundle(t, &bundle{rateLimit: -1, hop: hopSecret, token: token})
	spec := core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "secret"}
	spec.Addresses = []string{"203.0.113.0/24"}
	key := coretest.MustCreateKey(t, b.core.Admin(), spec)
	wantRefusal(t, b.get(t, "/v1/transactions", as(key), at("192.0.2.1")), addressRefused)
	MustDecode[v1.APIKey](t, b.get(t, "/v1/api_keys/current", as(key), at("203.0.113.1")), 200)
	spec.Addresses = []string{"203.0.113.1/24"}
	if _, err := b.core.Admin().CreateKey(t.Context(), spec); err == nil {
		t.Error("a network with host bits is accepted")
	}
	spec.Addresses, spec.Origins = nil, []string{"https://shop.example"}
	if _, err := b.core.Admin().CreateKey(t.Context(), spec); err == nil {
		t.Error("origins of a secret key are accepted")
	}
	p, keys := openPort(t, b), merchants+"/"+b.merchant+"/api_keys"
	made := MustDecode[v1.APIKey](t, p.post(t, keys, `{"mode":"live","kind":"publishable","allowed_addresses":["203.0.113.1"],"allowed_origins":["https://shop.example"]}`), 201)
	wantRefusal(t, b.post(t, "/v1/tokens", visa, as(made.Secret.Reveal()), at("192.0.2.1")), addressRefused)
	wantRefusal(t, b.post(t, "/v1/tokens", visa, as(made.Secret.Reveal()), at("203.0.113.1"), header("Origin", "https://other.example")), originRefused)
	rolled := MustDecode[v1.APIKey](t, p.post(t, keys+"/"+made.ID+"/roll", `{"allowed_addresses":["192.0.2.1"]}`), 201)
	MustDecode[v1.Token](t, b.post(t, "/v1/tokens", visa, as(rolled.Secret.Reveal()), at("192.0.2.1")), 201)
	wantRefusal(t, p.post(t, keys+"/"+rolled.ID+"/roll", `{"allowed_origins":["shop.example"]}`), invalid("invalid_value", "allowed_origins"))
}
