package api_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const accounts = operator.Root + "/accounts"

// hosted opens a bundle whose accounts are at a host, which accepts the key planted-first.
func hosted(t *testing.T) (*bundle, port, *coretest.Host) {
	t.Helper()
	host := &coretest.Host{}
	host.Accept("planted-first")
	b := openBundle(t, &bundle{rateLimit: -1, token: token, kinds: host.Kinds()})
	return b, openPort(t, b), host
}

// newAccount returns the body of the create of an account, with more fields.
func (b *bundle) newAccount(more string) string {
	return fmt.Sprintf(`{"merchant":%q,"kind":"host","currency":"usd","base_url":"https://host.example.com/v1/","settings":{"login":"shop"},
		"credentials":{"key":"planted-first"}%s}`, b.merchant, more)
}

func (p port) MustAddAccount(t *testing.T, more string) operator.Account {
	t.Helper()
	return MustDecode[operator.Account](t, p.post(t, accounts, p.newAccount(more)), 201)
}

// TestAccountOfAMerchant: the life of an account by the operator's API.
func TestAccountOfAMerchant(t *testing.T) {
	t.Parallel()
	b, p, host := hosted(t)
	made := p.MustAddAccount(t, "")
	want := operator.Account{
		ID: made.ID, Object: "account", Merchant: b.merchant, Kind: "host", Currency: "usd", Method: "card", BaseURL: "https://host.example.com/v1",
		Settings: map[string]string{"login": "shop"}, Status: operator.Enabled, Version: 1,
		CreatedAt: v1.Time{Time: birth}, UpdatedAt: v1.Time{Time: birth}, RotatedAt: v1.Time{Time: birth},
	}
	wantSameJSON(t, made, want)
	exists := refusal{409, v1.ErrorTypeInvalidRequestError, "account_exists", ""}
	wantRefusal(t, p.post(t, accounts, b.newAccount("")), exists)
	second := p.MustAddAccount(t, `,"second":true`)
	p.MustAddAccount(t, `,"method":"bank_account"`)
	if all := MustDecode[operator.AccountList](t, p.get(t, accounts+"?merchant="+b.merchant), 200).Data; len(all) != 3 || !second.Second {
		t.Errorf("got %d accounts, want 3", len(all))
	}
	if none := MustDecode[operator.AccountList](t, p.get(t, accounts+"?merchant=mer_0000000000001"), 200).Data; len(none) != 0 {
		t.Errorf("another merchant: got %d accounts", len(none))
	}
	b.clock.Advance(time.Minute)
	host.Accept("planted-next")
	rotate := accounts + "/" + made.ID + "/rotate"
	failed := refusal{409, v1.ErrorTypeInvalidRequestError, "account_check_failed", ""}
	wantRefusal(t, p.post(t, accounts+"/"+made.ID+"/check", ""), failed)
	wantRefusal(t, p.post(t, rotate, `{"credentials":{"key":"planted-wrong"}}`), failed)
	rotated := MustDecode[operator.Account](t, p.post(t, rotate, `{"credentials":{"key":"planted-next"}}`), 200)
	want.Version, want.RotatedAt, want.UpdatedAt = 2, v1.Time{Time: birth.Add(time.Minute)}, v1.Time{Time: birth.Add(time.Minute)}
	wantSameJSON(t, rotated, want)
	checked := MustDecode[operator.AccountCheck](t, p.post(t, accounts+"/"+made.ID+"/check", ""), 200)
	if checked.Account != made.ID || !checked.Accepted {
		t.Errorf("got %+v", checked)
	}
	off := MustDecode[operator.Account](t, p.post(t, accounts+"/"+made.ID+"/disable", ""), 200)
	want.Status, want.Version = operator.Disabled, 3
	wantSameJSON(t, off, want)
	wantRefusal(t, p.post(t, accounts, b.newAccount("")), failed) // the old key
	MustDecode[operator.Account](t, p.post(t, accounts, b.newAccount(`,"unchecked":true`)), 201)
	wantRefusal(t, p.post(t, accounts+"/"+made.ID+"/enable", ""), exists)
	wantRefusal(t, p.get(t, accounts+"/acct_0000000000001"), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
	wantRefusal(t, p.post(t, accounts+"/acct_0000000000001/disable", ""), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
	got := MustDecode[operator.Account](t, p.get(t, accounts+"/"+made.ID), 200)
	if got.Activity == nil || got.Activity.Calls != 0 {
		t.Errorf("got %+v", got.Activity)
	}
	got.Activity = nil
	wantSameJSON(t, got, want)
}

// TestRefusedAccounts: the error names the field.
func TestRefusedAccounts(t *testing.T) {
	t.Parallel()
	b, p, _ := hosted(t)
	for param, body := range map[string]string{
		"merchant":        strings.Replace(b.newAccount(""), b.merchant, "mer_0000000000001", 1),
		"kind":            strings.Replace(b.newAccount(""), `"host"`, `"other"`, 1),
		"currency":        strings.Replace(b.newAccount(""), `"usd"`, `"usx"`, 1),
		"base_url":        strings.Replace(b.newAccount(""), "https", "http", 1),
		"settings.login":  strings.Replace(b.newAccount(""), `"login":"shop"`, "", 1),
		"credentials.key": strings.Replace(b.newAccount(""), `"key"`, `"other"`, 1),
		"method":          b.newAccount(`,"method":"cash"`),
	} {
		wantRefusal(t, p.post(t, accounts, body), invalid("invalid_value", param))
	}
	wantRefusal(t, p.post(t, accounts, b.newAccount(`,"profile":{}`)), invalid("unknown_field", "profile"))
	if n := b.number(t, "SELECT COUNT(*) FROM acquirer_accounts"); n != 0 {
		t.Errorf("got %d accounts", n)
	}
}

// TestAccountReplay: a repeated request gets the same response, also after the acquirer has stopped
// accepting the credentials.
func TestAccountReplay(t *testing.T) {
	t.Parallel()
	b, p, host := hosted(t)
	first := p.post(t, accounts, b.newAccount(""), keyed("a"))
	made := MustDecode[operator.Account](t, first, 201)
	rotate := accounts + "/" + made.ID + "/rotate"
	host.Accept("planted-next")
	next := p.post(t, rotate, `{"credentials":{"key":"planted-next"}}`, keyed("b"))
	host.Accept("planted-last")
	wantReplay(t, p.post(t, accounts, b.newAccount(""), keyed("a")), first)
	wantReplay(t, p.post(t, rotate, `{"credentials":{"key":"planted-next"}}`, keyed("b")), next)
	if got := MustDecode[operator.Account](t, p.get(t, accounts+"/"+made.ID), 200); got.Version != 2 {
		t.Errorf("got version %d, want 2", got.Version)
	}
	wantRefusal(t, p.post(t, rotate, `{"credentials":{"key":"planted-last"}}`, keyed("b")),
		refusal{422, v1.ErrorTypeIdempotencyError, "idempotency_key_reused", ""})
}

// TestAccountRoles: an auditor reads accounts, and changes and checks none.
func TestAccountRoles(t *testing.T) {
	t.Parallel()
	b, p, _ := hosted(t)
	made := p.MustAddAccount(t, "")
	auditor := MustDecode[operator.Token](t, p.post(t, operatorTokens, `{"name":"bob","role":"`+auth.RoleAuditor+`"}`), 201).Token.Reveal()
	for _, path := range []string{accounts, accounts + "/" + made.ID} {
		if got := p.get(t, path, as(auditor)); got.status != 200 {
			t.Errorf("%s: got %d %s", path, got.status, got.body)
		}
		wantRefusal(t, p.get(t, path, as(token)), refusal{403, v1.ErrorTypePermissionError, "insufficient_role", ""})
	}
	wantRefusal(t, p.post(t, accounts, b.newAccount(""), as(auditor)), refusal{403, v1.ErrorTypePermissionError, "insufficient_role", ""})
	for _, verb := range []string{"check", "rotate", "disable", "enable"} {
		wantRefusal(t, p.post(t, accounts+"/"+made.ID+"/"+verb, "{}", as(auditor)), refusal{403, v1.ErrorTypePermissionError, "insufficient_role", ""})
	}
}

// TestAccountSecrets: credentials are in no file, log line, response or audit record. Each change
// has a record of the account before and after.
func TestAccountSecrets(t *testing.T) {
	t.Parallel()
	b, p, host := hosted(t)
	before := len(coretest.MustAuditRecords(t, b.core.Admin()))
	made := p.MustAddAccount(t, "")
	path := accounts + "/" + made.ID
	host.Accept("planted-next")
	responses := []response{
		p.post(t, path+"/check", ""),
		p.post(t, path+"/rotate", `{"credentials":{"key":"planted-next"}}`, keyed("a")),
		p.post(t, path+"/check", ""),
		p.post(t, path+"/disable", ""),
		p.post(t, path+"/enable", ""),
		p.post(t, path+"/rotate", `{"credentials":{"planted-field":"planted-value"}}`),
		p.get(t, accounts), p.get(t, path), p.get(t, operator.Root+"/audit_records"),
	}
	for i, r := range responses {
		if bytes.Contains(r.body, []byte("planted-")) {
			t.Errorf("response %d has a credential: %s", i, r.body)
		}
	}
	want := []struct{ action, outcome, before, after string }{
		{"accounts.add", "done", "", `"version":1`},
		{"accounts.check", "account_check_failed", "", ""},
		{"accounts.rotate", "done", `"version":1`, `"version":2`},
		{"accounts.check", "done", "", ""},
		{"accounts.disable", "done", `"status":"enabled"`, `"status":"disabled"`},
		{"accounts.enable", "done", `"status":"disabled"`, `"status":"enabled"`},
		{"accounts.rotate", "invalid_value", "", ""},
	}
	got := coretest.MustAuditRecords(t, b.core.Admin())[before:]
	if len(got) != len(want) {
		t.Fatalf("got %d records, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		r := got[i]
		if r.Action != w.action || r.Outcome != w.outcome || r.ObjectID != made.ID ||
			!strings.Contains(string(r.Before), w.before) || !strings.Contains(string(r.After), w.after) {
			t.Errorf("record %d: got %+v, want %+v", i, r, w)
		}
	}
	files := coretest.Files(t, b.dir)
	files["log"] = []byte(b.logs.String())
	for name, content := range files {
		if bytes.Contains(content, []byte("planted-")) {
			t.Errorf("%s has a credential", name)
		}
	}
	if n := b.number(t, "SELECT COUNT(*) FROM acquirer_accounts WHERE CAST(credentials AS TEXT) LIKE '%planted-%'"); n != 0 {
		t.Errorf("%d rows have a credential", n)
	}
}

// TestHealthShowsAccounts: the operators' port alone shows the accounts in its health.
func TestHealthShowsAccounts(t *testing.T) {
	t.Parallel()
	b, p, _ := hosted(t)
	health := func() operator.Health {
		t.Helper()
		return MustDecode[operator.Health](t, p.get(t, "/v1/health"), 200)
	}
	if got := health(); got.Accounts == nil || len(got.Accounts) != 0 || got.Checks["store_read"] != "ok" {
		t.Errorf("without accounts: got %+v", got)
	}
	made := p.MustAddAccount(t, "")
	want := operator.AccountHealth{ID: made.ID, Kind: "host", Status: operator.Enabled}
	if got := health(); len(got.Accounts) != 1 || got.Accounts[0] != want {
		t.Errorf("got %+v, want %+v", got.Accounts, want)
	}
	if got := b.get(t, "/v1/health"); got.status != 200 || strings.Contains(string(got.body), "acct_") || strings.Contains(string(got.body), "accounts") {
		t.Errorf("the public health: got %s", got.body)
	}
}

// TestStartNamesAccounts: the log of a start has the accounts, or the command that adds one.
func TestStartNamesAccounts(t *testing.T) {
	t.Parallel()
	b, p, _ := hosted(t)
	if log := b.logs.String(); !strings.Contains(log, "live mode has no acquirer account") || !strings.Contains(log, core.AddAccount) {
		t.Error("the log of the start does not tell how to add an account")
	}
	made := p.MustAddAccount(t, "")
	before := len(b.logs.String())
	b.restart(t)
	if log := b.logs.String()[before:]; !strings.Contains(log, made.ID) || strings.Contains(log, "live mode has no") {
		t.Errorf("the log of the start lacks %s", made.ID)
	}
}

// TestLiveKeyWithoutAnAccount is refused, also if another merchant has an account.
func TestLiveKeyWithoutAnAccount(t *testing.T) {
	t.Parallel()
	b, p, host := hosted(t)
	other := MustDecode[operator.Merchant](t, p.post(t, merchants, `{"name":"Other"}`), 201)
	p.MustAddAccount(t, "")
	live := coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: other.ID, Mode: "live", Kind: "secret"})
	body := `{"amount":100,"currency":"usd","payment_method":"card","card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}}`
	wantRefusal(t, b.post(t, "/v1/transactions", body, as(live)), refusal{503, v1.ErrorTypeAPIError, "acquirer_not_configured", ""})
	// The alert of errors subtracts this one: it is no fault of the service.
	b.wantSeries(t, `refused_requests_total\{reason="acquirer_not_configured"\} 1`)
	b.MustCreate(t, 100, "") // a test key
	if keys := host.Keys(); len(keys) != 1 {
		t.Errorf("the account got %d requests, want the check alone", len(keys))
	}
	if got := b.get(t, accounts); got.status != http.StatusNotFound {
		t.Errorf("accounts on the public port: got %d", got.status)
	}
}

// TestUnreadableAccount: an account whose stored settings do not decode is shown without them, so
// that an operator finds it.
func TestUnreadableAccount(t *testing.T) {
	t.Parallel()
	got := api.ShowAccount(&payment.Account{ID: 7, State: payment.AccountEnabled, Profile: []byte(`{"base_url"`)})
	if got.ID != "acct_0000000000007" || got.Status != operator.Enabled || got.BaseURL != "" || got.Settings == nil || len(got.Settings) != 0 {
		t.Errorf("got %+v, want the account without a base URL and settings", got)
	}
}

// TestAuditOfRepeatedCreates: the audit record of a repeated request names the object of the first
// one, even if the request would be refused now.
func TestAuditOfRepeatedCreates(t *testing.T) {
	t.Parallel()
	b, p, _ := hosted(t)
	requests := map[string]struct{ path, body string }{
		"accounts.add":     {accounts, b.newAccount("")},
		"merchants.create": {merchants, `{"name":"x"}`},
		"operators.create": {operatorTokens, fmt.Sprintf(`{"name":"x","role":"auditor","expires_at":%q}`,
			birth.Add(time.Hour).Format(time.RFC3339))},
	}
	made := map[string]string{}
	for action, r := range requests {
		made[action], _ = MustDecode[map[string]any](t, p.post(t, r.path, r.body, keyed(action)), 201)["id"].(string)
	}
	b.clock.Advance(2 * time.Hour)
	for action, r := range requests {
		MustDecode[map[string]any](t, p.post(t, r.path, r.body, keyed(action)), 201)
		records := coretest.MustAuditRecords(t, b.core.Admin())
		got := records[len(records)-1]
		if got.Action != action || got.Outcome != "replayed" || got.ObjectID != made[action] || made[action] == "" {
			t.Errorf("%s: got %s %s of %q, want replayed of %q", action, got.Action, got.Outcome, got.ObjectID, made[action])
		}
	}
}
