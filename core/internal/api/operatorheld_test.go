package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// heldPort is the operators' port of a service. It holds each request after its login.
type heldPort struct {
	*coretest.Service
	server  *httptest.Server
	login   chan string   // the result of a login
	proceed chan struct{} // lets the request of that login continue

	accounts *account.Accounts // at a host that accepts the key "k"
}

func openHeldPort(t *testing.T) *heldPort {
	t.Helper()
	p := &heldPort{Service: coretest.Open(t), login: make(chan string), proceed: make(chan struct{})}
	host := &coretest.Host{}
	host.Accept("k")
	p.accounts = account.New(account.Config{Store: p.DB, Vault: p.MustVault(t), Clock: p.Clock, Kinds: host.Kinds()})
	p.server = httptest.NewServer(api.New(api.Config{
		Store: p.DB, Engine: p.Engine, Accounts: p.accounts, Auth: auth.New(p.DB, p.Clock, coretest.Roots()), Clock: p.Clock, Log: slog.New(slog.DiscardHandler),
		FingerprintKey: []byte("f"), IdempotencyKey: []byte("i"), Concurrent: 1,
		LoggedIn: func(result string) { p.login <- result; <-p.proceed },
	}).Operator())
	t.Cleanup(p.server.Close)
	return p
}

// mustToken makes an operator token that ends after an hour, or never.
func (p *heldPort) mustToken(t *testing.T, ends bool) (of int64, token string) {
	t.Helper()
	o := payment.OperatorToken{ID: p.IDs.Next(), Name: "alice", Role: auth.RoleOperator, CreatedAt: p.Clock.Now()}
	if ends {
		o.ExpiresAt = p.Clock.Now().Add(time.Hour)
	}
	secret := auth.MintOperator(coretest.Roots(), &o)
	if err := p.DB.Update(t.Context(), func(tx *store.Tx) error { return tx.InsertOperator(&o) }); err != nil {
		t.Fatal(err)
	}
	return o.ID, secret.Reveal()
}

// newAccount returns the body of the create of an account for a currency.
func (p *heldPort) newAccount(currency string) string {
	return fmt.Sprintf(`{"merchant":%q,"kind":"host","currency":%q,"base_url":"https://host.example.com","settings":{"login":"shop"},
		"credentials":{"key":"k"}}`, id.Format(id.Merchant, p.Tenant.Merchant), currency)
}

// mustAccount adds an account for US dollars, and returns its id.
func (p *heldPort) mustAccount(t *testing.T) string {
	t.Helper()
	var in operator.AccountCreate
	if err := json.Unmarshal([]byte(p.newAccount("usd")), &in); err != nil {
		t.Fatal(err)
	}
	made, credentials, err := p.accounts.Create(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	result, err := p.Engine.AddAccount(t.Context(), engine.Request{}, *made, credentials)
	if err != nil {
		t.Fatal(err)
	}
	return shownID(t, result.Body)
}

// operatorChange is a changing request of an operator. A body of "" is none.
type operatorChange struct{ path, body string }

// changes returns a request for each changing route, by route, on objects that it makes.
func (p *heldPort) changes(t *testing.T) map[string]operatorChange {
	t.Helper()
	key := func() string {
		result, err := p.Engine.CreateKey(t.Context(), p.Request(""), p.Tenant, engine.Unlimited(), engine.NewKey{Kind: apikey.Secret})
		if err != nil {
			t.Fatal(err)
		}
		return shownID(t, result.Body)
	}
	p.Acquirer.Before = func(context.Context, coretest.Call) error { return errors.New("no response") }
	lost, err := p.Pay(t.Context(), p.Request(""), 100, true)
	if err != nil || lost.Status != http.StatusGatewayTimeout {
		t.Fatalf("got %d %s, %v, want 504", lost.Status, lost.Body, err)
	}
	steps, err := p.DB.UnfinishedSteps(t.Context(), payment.UnfinishedFilter{}, 10)
	if err != nil || len(steps) != 1 {
		t.Fatalf("got %+v, %v, want one step", steps, err)
	}
	p.Clock.Advance(engine.Patience)
	other, _ := p.mustToken(t, false)
	merchant := merchants + "/" + id.Format(id.Merchant, p.Tenant.Merchant)
	account := accounts + "/" + p.mustAccount(t)
	const announcement = `"type":"certificate.rotated","name":"n","object":{}}`
	return map[string]operatorChange{
		"POST " + merchants:                            {merchants, `{"name":"new"}`},
		"PATCH " + merchants + "/{id}":                 {merchant, `{"name":"renamed"}`},
		"POST " + merchants + "/{id}/disable":          {merchant + "/disable", `{}`},
		"POST " + merchants + "/{id}/enable":           {merchant + "/enable", `{}`},
		"POST " + merchants + "/{id}/events":           {merchant + "/events", `{"mode":"test",` + announcement},
		"POST " + broadcasts:                           {broadcasts, `{` + announcement},
		"POST " + merchants + "/{id}/api_keys":         {merchant + "/api_keys", `{"mode":"live","kind":"secret"}`},
		"DELETE " + merchants + "/{id}/api_keys/{key}": {merchant + "/api_keys/" + key(), ""},
		"POST " + merchants + "/{id}/api_keys/{key}/roll": {
			merchant + "/api_keys/" + key() + "/roll", `{}`,
		},
		"POST " + accounts:                   {accounts, p.newAccount("eur")},
		"POST " + accounts + "/{id}/check":   {account + "/check", `{}`},
		"POST " + accounts + "/{id}/rotate":  {account + "/rotate", `{"credentials":{"key":"k"}}`},
		"POST " + accounts + "/{id}/disable": {account + "/disable", `{}`},
		"POST " + accounts + "/{id}/enable":  {account + "/enable", `{}`},
		"POST " + operatorTokens:             {operatorTokens, `{"name":"bob","role":"operator"}`},
		"DELETE " + operatorTokens + "/{id}": {operatorTokens + "/" + id.Format(id.Operator, other), ""},
		"POST " + stepsOf + "/{id}/resolve": {
			stepsOf + "/" + engine.StepName(steps[0].Step) + "/resolve",
			`{"outcome":"declined","reason":"statement of November 22, line 7"}`,
		},
		"POST " + exceptionsOf + "/{id}/resolve": {
			exceptionsOf + "/" + p.mustExcept(t, steps[0].Transaction) + "/resolve",
			`{"outcome":"not_settled","reason":"statement of November 22, line 7"}`,
		},
	}
}

// mustExcept stores a capture that failed to settle, and returns its id.
func (p *heldPort) mustExcept(t *testing.T, transaction int64) string {
	t.Helper()
	capture := p.IDs.Next()
	p.MustExec(t, `INSERT INTO captures (id, transaction_id, merchant_id, live, state, amount, currency, final, created_at,
		updated_at, exception) VALUES (?, ?, ?, 1, 'succeeded', 100, 'usd', 1, 1, 1, 'failed')`, capture, transaction, p.Tenant.Merchant)
	return id.Format(id.Capture, capture)
}

func shownID(t *testing.T, body []byte) string {
	t.Helper()
	var shown struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(body, &shown); err != nil {
		t.Fatal(err)
	}
	return shown.ID
}

// send sends a request whose second half of the body follows after meanwhile. A request without a
// body waits after its login.
func (p *heldPort) send(t *testing.T, method string, c operatorChange, token, key string, meanwhile func()) (status int, code string) {
	t.Helper()
	var body io.Reader = http.NoBody
	held, rest := io.Pipe()
	defer func() { _ = rest.Close() }()
	if c.body != "" {
		body = held
	}
	r, err := http.NewRequestWithContext(t.Context(), method, p.server.URL+c.path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	ended := make(chan response, 1)
	go func() { ended <- responseOf(t, p.server.Client(), r) }()
	half := len(c.body) / 2
	write := func(part string) {
		if _, err := io.WriteString(rest, part); err != nil {
			t.Error(err)
		}
	}
	if c.body != "" {
		write(c.body[:half])
	}
	if got := <-p.login; got != api.LoginAccepted {
		t.Errorf("login: got %s, want %s", got, api.LoginAccepted)
	}
	if c.body == "" {
		meanwhile()
		p.proceed <- struct{}{}
	} else {
		p.proceed <- struct{}{}
		meanwhile()
		write(c.body[half:])
		_ = rest.Close() // the end of the body
	}
	got := <-ended
	var shown struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal(got.body, &shown); err != nil {
		t.Errorf("%s: %v", got.body, err)
	}
	if got.status == http.StatusUnauthorized && got.header.Get("WWW-Authenticate") != "Bearer" {
		t.Error("a 401 without WWW-Authenticate")
	}
	return got.status, shown.Error.Code
}

// responseOf sends a request and reads the response.
func responseOf(t *testing.T, client *http.Client, r *http.Request) response {
	t.Helper()
	resp, err := client.Do(r)
	if err != nil {
		t.Error(err)
		return response{}
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return response{resp.StatusCode, resp.Header, body}
}

// TestOperatorTokenEndsMeanwhile: an operator token ends after its request was admitted, and before
// the body has arrived. The request gets 401, changes nothing and stores no response: the same
// request under a valid token succeeds.
func TestOperatorTokenEndsMeanwhile(t *testing.T) {
	t.Parallel()
	p := openHeldPort(t)
	changes := p.changes(t)
	if got, want := slices.Sorted(maps.Keys(changes)), slices.Sorted(slices.Values(api.OperatorChanges())); !slices.Equal(got, want) {
		t.Fatalf("changing routes: got %q, want %q", got, want)
	}
	effects := func() [2]int64 {
		return [2]int64{
			p.Number(t, "SELECT COUNT(*) FROM audit_records WHERE outcome = 'done'"),
			p.Number(t, "SELECT COUNT(*) FROM idempotency_keys"),
		}
	}
	for route, c := range changes {
		method, _, _ := strings.Cut(route, " ")
		before := effects()
		for _, expires := range []bool{false, true} {
			for _, key := range []string{"", "the key of " + route} {
				of, token := p.mustToken(t, expires)
				status, code := p.send(t, method, c, token, key, func() {
					if expires {
						p.Clock.Advance(time.Hour)
					} else if _, err := p.Engine.RevokeOperator(t.Context(), engine.Request{}, of); err != nil {
						t.Error(err)
					}
				})
				if status != http.StatusUnauthorized || code != "invalid_operator_token" {
					t.Errorf("%s, expires %t, key %q: got %d %s, want 401", route, expires, key, status, code)
				}
			}
		}
		if after := effects(); after != before {
			t.Errorf("%s: got %v actions and idempotency keys, want %v", route, after, before)
		}
		_, token := p.mustToken(t, false)
		if status, code := p.send(t, method, c, token, "the key of "+route, func() {}); status >= 300 {
			t.Errorf("%s under a valid token: got %d %s", route, status, code)
		}
		if after := effects(); after[0] != before[0]+1 {
			t.Errorf("%s under a valid token: got %d actions, want 1", route, after[0]-before[0])
		}
	}
}
