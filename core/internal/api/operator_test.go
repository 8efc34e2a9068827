package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// token is the token of mle-filter and the edge in the tests, with the role filter-identify.
const token = "b3BlcmF0b3Itb3BlcmF0b3Itb3BlcmF0b3Itb3BlcmE="

// port is the operators' port of a bundle, under the operator's contract.
type port struct{ *bundle }

func openPort(t *testing.T, b *bundle) port {
	t.Helper()
	server := httptest.NewServer(b.core.Operations())
	t.Cleanup(server.Close)
	client := &http.Client{Transport: coretest.NewContractOf(t, http.DefaultTransport.(*http.Transport).Clone(), operator.OpenAPI())}
	t.Cleanup(client.CloseIdleConnections)
	p := *b
	p.server, p.client, p.key = server, client, token
	if b.token != "" {
		made, err := b.core.Admin().CreateOperator(t.Context(), "alice", core.RoleOperator, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		p.key = made.Reveal()
	}
	return port{&p}
}

func operated(t *testing.T) (*bundle, port) {
	t.Helper()
	b := openBundle(t, &bundle{rateLimit: -1, token: token})
	return b, openPort(t, b)
}

const merchants = operator.Root + "/merchants"

func TestOperatorMakesAMerchantThatPays(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	made := MustDecode[operator.Merchant](t, p.post(t, merchants, `{"name":"Größe 42","time_zone":"Asia/Tokyo","cutoff":"17:30","unlinked_refunds":true}`), 201)
	want := operator.Merchant{
		ID: made.ID, Object: "merchant", Name: "Größe 42", Status: operator.Enabled, TimeZone: "Asia/Tokyo", Cutoff: "17:30", UnlinkedRefunds: true,
		CreatedAt: v1.Time{Time: birth},
	}
	wantSameJSON(t, made, want)
	path := merchants + "/" + made.ID
	wantSameJSON(t, MustDecode[operator.Merchant](t, p.get(t, path), 200), want)
	changed := MustDecode[operator.Merchant](t, p.do(t, "PATCH", path, `{"name":"Shop","cutoff":"00:00"}`), 200)
	want.Name, want.Cutoff = "Shop", "00:00"
	wantSameJSON(t, changed, want)
	want.UnlinkedRefunds = false
	wantSameJSON(t, MustDecode[operator.Merchant](t, p.do(t, "PATCH", path, `{"unlinked_refunds":false}`), 200), want)

	for mode, status := range map[string]int{"test": 201, "live": 400} { // the test card is for test mode
		key := MustDecode[v1.APIKey](t, p.post(t, path+"/api_keys", `{"mode":"`+mode+`","kind":"secret","name":"ours"}`), 201)
		if key.Secret == nil || !strings.HasPrefix(key.Secret.Reveal(), "sk_"+mode) || key.Merchant != made.ID || *key.Name != "ours" {
			t.Fatalf("got %+v", key)
		}
		if got := b.post(t, "/v1/transactions", paid("card", ""), as(key.Secret.Reveal())); got.status != status {
			t.Errorf("%s: got %d %s, want %d", mode, got.status, got.body, status)
		}
		keys := MustDecode[v1.APIKeyList](t, p.get(t, path+"/api_keys?mode="+mode), 200).Data
		if len(keys) != 1 || keys[0].ID != key.ID || keys[0].Secret != nil {
			t.Errorf("keys: got %+v", keys)
		}
		revoke := path + "/api_keys/" + key.ID
		wantRefusal(t, p.do(t, "DELETE", revoke, ""), refusal{409, v1.ErrorTypeInvalidRequestError, "last_api_key", ""})
		wantRefusal(t, p.do(t, "DELETE", merchants+"/"+b.merchant+"/api_keys/"+key.ID, ""), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "key"})
		if got := MustDecode[v1.APIKey](t, p.do(t, "DELETE", revoke+"?force=true", ""), 200); got.Status != v1.APIKeyStatusRevoked {
			t.Errorf("got %+v", got)
		}
		wantRefusal(t, b.get(t, "/v1/transactions", as(key.Secret.Reveal())), refusal{401, v1.ErrorTypeAuthenticationError, "invalid_api_key", ""})
	}
	if got := MustDecode[v1.APIKeyList](t, p.get(t, path+"/api_keys"), 200).Data; len(got) != 2 {
		t.Errorf("keys of both modes: got %d, want 2", len(got))
	}
	first := MustDecode[operator.MerchantList](t, p.get(t, merchants+"?limit=1"), 200)
	rest := MustDecode[operator.MerchantList](t, p.get(t, merchants+"?starting_after="+first.Data[0].ID), 200)
	if first.Data[0].ID != made.ID || !first.HasMore || len(rest.Data) != 1 || rest.Data[0].ID != b.merchant || rest.HasMore {
		t.Errorf("lists: got %+v and %+v", first, rest)
	}
}

// TestDisabledMerchant: the keys of a disabled merchant are refused, and its open work continues.
func TestDisabledMerchant(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	paid := b.MustCreate(t, 100, "")
	path := merchants + "/" + b.merchant
	publishable := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "test", Kind: "publishable"})
	live := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"})
	b.clock.Advance(time.Minute)
	off := MustDecode[operator.Merchant](t, p.post(t, path+"/disable", ""), 200)
	if off.Status != operator.Disabled || off.DisabledAt == nil || !off.DisabledAt.Equal(birth.Add(time.Minute)) {
		t.Errorf("got %+v", off)
	}
	b.clock.Advance(time.Minute)
	wantSameJSON(t, MustDecode[operator.Merchant](t, p.post(t, path+"/disable", ""), 200), off)
	refused := refusal{403, v1.ErrorTypePermissionError, "merchant_disabled", ""}
	for _, key := range []string{b.key, publishable, live} {
		wantRefusal(t, b.get(t, "/v1/transactions/"+paid.ID, as(key)), refused)
		wantRefusal(t, b.post(t, "/v1/tokens", visa, as(key)), refused)
	}
	wantRefusal(t, b.get(t, "/v1/transactions", as(strangeKey(t))), refusal{401, v1.ErrorTypeAuthenticationError, "invalid_api_key", ""})
	b.clock.Advance(24 * time.Hour)
	b.restart(t) // settles at its start
	programtest.WaitFor(t, "the payment is settled", func() bool {
		return b.number(t, "SELECT COUNT(*) FROM events WHERE type = 'transaction.settled'") > 0
	})
	wantRefusal(t, b.get(t, "/v1/transactions/"+paid.ID), refused)
	p = openPort(t, b)
	on := MustDecode[operator.Merchant](t, p.post(t, path+"/enable", ""), 200)
	if on.Status != operator.Enabled || on.DisabledAt != nil {
		t.Errorf("got %+v", on)
	}
	if got := b.transaction(t, paid.ID); got.Settlement != v1.SettlementSettled {
		t.Errorf("settlement: got %s, want settled", got.Settlement)
	}
	if err := b.core.Admin().DisableMerchant(t.Context(), b.merchant, true); err != nil { // like the command line in another process
		t.Fatal(err)
	}
	b.clock.Advance(time.Second)
	wantRefusal(t, b.get(t, "/v1/transactions"), refused)
}

func TestOperatorReplay(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	first := p.post(t, merchants, `{"name":"Shop"}`, keyed("k"))
	made := MustDecode[operator.Merchant](t, first, 201)
	wantReplay(t, p.post(t, merchants, `{"name":"Shop"}`, keyed("k")), first)
	wantKeyReused(t, p.post(t, merchants, `{"name":"Another"}`, keyed("k")))
	path := merchants + "/" + made.ID + "/api_keys"
	key := p.post(t, path, `{"mode":"test","kind":"secret"}`, keyed("key"))
	MustDecode[v1.APIKey](t, key, 201)
	wantReplay(t, p.post(t, path, `{"mode":"test","kind":"secret"}`, keyed("key")), key)
	if got := b.number(t, "SELECT COUNT(*) FROM merchants"); got != 2 {
		t.Errorf("merchants: got %d, want 2", got)
	}
	wantRefusal(t, b.get(t, "/v1/idempotency_keys/key"), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "key"})
}

// TestOperatorRollsAKey: the new key has the rights of the old key, which stays valid until its
// end. A key of another merchant cannot be rolled.
func TestOperatorRollsAKey(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	path := merchants + "/" + b.merchant + "/api_keys"
	old := MustDecode[v1.APIKey](t, p.post(t, path, `{"mode":"live","kind":"secret","scopes":["transactions:read"],"name":"ours"}`), 201)
	roll := path + "/" + old.ID + "/roll"
	first := p.post(t, roll, `{"expires_in":60}`, keyed("roll"))
	rolled := MustDecode[v1.APIKey](t, first, 201)
	if rolled.Secret == nil || rolled.Mode != v1.ModeLive || len(rolled.Scopes) != 1 || *rolled.Name != "ours" || rolled.Merchant != b.merchant {
		t.Fatalf("got %+v", rolled)
	}
	wantReplay(t, p.post(t, roll, `{"expires_in":60}`, keyed("roll")), first)
	wantRefusal(t, p.post(t, roll, ""), refusal{409, v1.ErrorTypeInvalidRequestError, "api_key_not_rollable", ""})
	for _, key := range []string{old.Secret.Reveal(), rolled.Secret.Reveal()} {
		MustDecode[v1.TransactionList](t, b.get(t, "/v1/transactions", as(key)), 200)
	}
	other := MustDecode[operator.Merchant](t, p.post(t, merchants, `{"name":"x"}`), 201).ID
	gone := refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "key"}
	wantRefusal(t, p.post(t, merchants+"/"+other+"/api_keys/"+rolled.ID+"/roll", ""), gone)
	b.clock.Advance(time.Minute)
	wantRefusal(t, b.get(t, "/v1/transactions", as(old.Secret.Reveal())), refusal{401, v1.ErrorTypeAuthenticationError, "invalid_api_key", ""})
	MustDecode[v1.TransactionList](t, b.get(t, "/v1/transactions", as(rolled.Secret.Reveal())), 200)
}

// TestDisabledMerchantsOpenWorkGoesOn: a payment whose outcome was lost is resolved, and its
// webhook arrives, while the keys are refused.
func TestDisabledMerchantsOpenWorkGoesOn(t *testing.T) {
	t.Parallel()
	delivered := make(chan string, 8)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		delivered <- string(body)
	}))
	t.Cleanup(receiver.Close)
	b := openBundle(t, &bundle{rateLimit: -1, token: token, private: true, catalogue: MustHurryCatalogue(t, 20*time.Millisecond)})
	p := openPort(t, b)
	b.MustHook(t, receiver.URL)
	lost := wantRefusal(t, b.post(t, "/v1/transactions", create1("pm_card_late_approval", "")), refusal{504, v1.ErrorTypeAPIError, "outcome_unknown", ""})
	MustDecode[operator.Merchant](t, p.post(t, merchants+"/"+b.merchant+"/disable", ""), 200)
	wantRefusal(t, b.get(t, "/v1/transactions"), refusal{403, v1.ErrorTypePermissionError, "merchant_disabled", ""})
	b.clock.Advance(time.Second)
	select {
	case body := <-delivered:
		if !strings.Contains(body, `"transaction.failed"`) || !strings.Contains(body, lost.Transaction.ID) {
			t.Errorf("webhook: got %s", body)
		}
	case <-time.After(programtest.Patience):
		t.Fatal("no webhook with the outcome of the payment")
	}
	if got := b.number(t, "SELECT COUNT(*) FROM transactions WHERE status = 'failed'"); got != 1 {
		t.Errorf("failed payments: got %d, want 1", got)
	}
	wantRefusal(t, b.get(t, "/v1/transactions"), refusal{403, v1.ErrorTypePermissionError, "merchant_disabled", ""})
}

func TestOperatorNeedsTheToken(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	wrong := refusal{401, v1.ErrorTypeAuthenticationError, "invalid_operator_token", ""}
	before, token := b.rows(t), p.key
	for name, o := range map[string]option{
		"none": header("Authorization"), "a merchant's key": as(b.key), "cut": as(token[:len(token)-1]), "longer": as(token + "x"), "empty": as(""),
		"another scheme": header("Authorization", "Basic "+token), "twice": header("Authorization", "Bearer "+token, "Bearer "+token),
	} {
		for _, a := range []response{
			p.get(t, merchants, o), p.post(t, merchants, `{"name":"x"}`, o), p.post(t, merchants+"/"+b.merchant+"/disable", "", o),
		} {
			if wantRefusal(t, a, wrong); a.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s: no challenge", name)
			}
		}
	}
	if got := b.rows(t); got != before {
		t.Errorf("rows: got %s, want %s", got, before)
	}
	for _, path := range []string{merchants, operator.Root + "/openapi.json"} { // never on the public port
		wantRefusal(t, b.get(t, path, as(token)), refusal{404, v1.ErrorTypeInvalidRequestError, "route_not_found", ""})
	}
	if got := p.get(t, operator.Root+"/openapi.json", header("Authorization")); got.status != 200 || !strings.Contains(string(got.body), "disableMerchant") {
		t.Errorf("the contract: got %d", got.status)
	}
	wantRefusal(t, p.get(t, operator.Root+"/nothing"), refusal{404, v1.ErrorTypeInvalidRequestError, "route_not_found", ""})
	wantRefusal(t, p.do(t, "PUT", merchants, ""), refusal{405, v1.ErrorTypeInvalidRequestError, "method_not_allowed", ""})
}

// TestFilterTokenAtTheStart checks that a token that could be guessed is refused and not shown.
func TestFilterTokenAtTheStart(t *testing.T) {
	t.Parallel()
	for _, short := range []string{"short", strings.Repeat("x", 42), strings.Repeat("x", 43) + "\n"} {
		c, err := core.Open(t.Context(), core.Config{Data: t.TempDir(), FilterToken: secret.New(short)})
		if err == nil {
			t.Errorf("a token of %d characters was taken: %v", len(short), c.Close())
		} else if strings.Contains(err.Error(), short) {
			t.Errorf("the error shows the token: %v", err)
		}
	}
}

func TestBadOperatorRequests(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	path := merchants + "/" + b.merchant
	bad := func(code, param string) refusal { return refusal{400, v1.ErrorTypeInvalidRequestError, code, param} }
	gone := func(param string) refusal { return refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", param} }
	before := b.rows(t)
	for _, c := range []struct {
		method, path, body string
		want               refusal
	}{
		{"POST", merchants, `{}`, bad("missing_field", "name")},
		{"POST", merchants, `{"name":""}`, bad("missing_field", "name")},
		{"POST", merchants, `{"name":null}`, bad("invalid_type", "name")},
		{"POST", merchants, `{"name":"x","cutoff":null}`, bad("invalid_type", "cutoff")},
		{"POST", merchants, `{"name":"` + strings.Repeat("ö", 201) + `"}`, bad("invalid_value", "name")},
		{"POST", merchants, `{"name":"x","id":"mer_1"}`, bad("unknown_field", "id")},
		{"POST", merchants, `{"name":"x","name":"y"}`, bad("duplicate_field", "name")},
		{"POST", merchants, `{"name":"x","time_zone":"Mars/Base"}`, bad("invalid_value", "time_zone")},
		{"POST", merchants, `{"name":"x","time_zone":"Local"}`, bad("invalid_value", "time_zone")},
		{"POST", merchants, `{"name":"x","time_zone":""}`, bad("invalid_value", "time_zone")},
		{"POST", merchants, `{"name":"x","cutoff":"24:00"}`, bad("invalid_value", "cutoff")},
		{"POST", merchants, `{"name":"x","cutoff":"7:30"}`, bad("invalid_value", "cutoff")},
		{"POST", merchants, `{"name":"x","unlinked_refunds":"on"}`, bad("invalid_type", "unlinked_refunds")},
		{"PATCH", path, `{"unlinked_refunds":null}`, bad("invalid_type", "unlinked_refunds")},
		{"POST", path + "/api_keys/x/roll", "", gone("key")},
		{"POST", path + "/api_keys/key_0000000000001/roll", "", gone("key")},
		{"POST", path + "/api_keys/key_0000000000001/roll", `{"expires_in":86401}`, bad("invalid_value", "expires_in")},
		{"POST", path + "/api_keys/key_0000000000001/roll", `{"overlap":1}`, bad("unknown_field", "overlap")},
		{"POST", merchants + "?x=1", `{"name":"x"}`, bad("unknown_parameter", "")},
		{"PATCH", path, `{"name":""}`, bad("invalid_value", "name")},
		{"PATCH", path, `{"status":"disabled"}`, bad("unknown_field", "status")},
		{"PATCH", merchants + "/mer_0000000000001", `{"name":"x"}`, gone("id")},
		{"GET", merchants + "/mer_0000000000001", "", gone("id")},
		{"GET", merchants + "/x", "", gone("id")},
		{"GET", merchants + "?limit=0", "", bad("invalid_value", "limit")},
		{"GET", merchants + "?starting_after=x", "", bad("invalid_cursor", "starting_after")},
		{"POST", merchants + "/mer_0000000000001/disable", "", gone("id")},
		{"POST", path + "/disable", `{"why":"x"}`, bad("unknown_field", "why")},
		{"GET", merchants + "/mer_0000000000001/api_keys", "", gone("id")},
		{"GET", path + "/api_keys?mode=prod", "", bad("invalid_value", "mode")},
		{"POST", path + "/api_keys", `{"kind":"secret"}`, bad("missing_field", "mode")},
		{"POST", path + "/api_keys", `{"mode":"prod","kind":"secret"}`, bad("invalid_value", "mode")},
		{"POST", path + "/api_keys", `{"mode":"test","kind":"root"}`, bad("invalid_value", "kind")},
		{"POST", path + "/api_keys", `{"mode":"test","kind":"publishable","scopes":["keys:write"]}`, bad("invalid_value", "scopes")},
		{"POST", merchants + "/mer_0000000000001/api_keys", `{"mode":"test","kind":"secret"}`, gone("id")},
		{"DELETE", path + "/api_keys/x", "", gone("key")},
		{"DELETE", path + "/api_keys/key_0000000000001?force=yes", "", bad("invalid_value", "force")},
	} {
		t.Run(c.method+" "+c.path+" "+c.body, func(t *testing.T) { wantRefusal(t, p.do(t, c.method, c.path, c.body), c.want) })
	}
	if got := b.rows(t); got != before {
		t.Errorf("rows: got %s, want %s", got, before)
	}
}

// TestAuditLine checks the log line of each call: operator, address, route, objects and outcome,
// and no secret.
func TestAuditLine(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	key := MustDecode[v1.APIKey](t, p.post(t, merchants+"/"+b.merchant+"/api_keys", `{"mode":"test","kind":"secret"}`), 201)
	p.post(t, merchants, `{"name":"x"}`, as("guess"))
	p.get(t, merchants+"/mer_0000000000001")
	var lines []string
	for line := range strings.Lines(b.logs.String()) {
		if strings.Contains(line, `"msg":"audit"`) {
			lines = append(lines, line)
		}
	}
	const address = `"client_address":"127.0.0.1"`
	want := [][]string{
		{`"actor":"operator`, address, `"route":"POST /admin/v1/merchants/{id}/api_keys"`, `"merchant":"` + b.merchant + `"`, `"api_key":"` + key.ID + `"`, `"outcome":"done"`},
		{`"actor":"none"`, address, `"route":"POST /admin/v1/merchants"`, `"outcome":"invalid_operator_token"`},
		{`"actor":"operator`, address, `"route":"GET /admin/v1/merchants/{id}"`, `"merchant":"mer_0000000000001"`, `"outcome":"not_found"`},
	}
	if len(lines) != len(want) {
		t.Fatalf("got %d lines, want %d: %s", len(lines), len(want), lines)
	}
	for i, words := range want {
		for _, w := range words {
			if !strings.Contains(lines[i], w) {
				t.Errorf("no %s in %s", w, lines[i])
			}
		}
	}
	for _, hidden := range []string{token, key.Secret.Reveal()[8:], "guess"} {
		if strings.Contains(b.logs.String(), hidden) {
			t.Errorf("the log has %q", hidden)
		}
	}
}
