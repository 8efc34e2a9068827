package api_test

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/operator"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// live is a merchant's secret key of live mode.
func (b *bundle) live(t *testing.T) string {
	t.Helper()
	return coretest.MustCreateKey(t, b.core.Admin(), core.KeySpec{Merchant: b.merchant, Mode: "live", Kind: "secret"})
}

// TestLivePayments: a live payment goes through the merchant's account, with the credentials that
// are valid at the time. A disabled account gets no new payment, and finishes its open ones. Test
// keys never reach it.
func TestLivePayments(t *testing.T) {
	t.Parallel()
	b, p, host := hosted(t)
	live := b.live(t)
	const body = `{"amount":100,"currency":"usd","capture":"manual","card":{"number":"4242424242424242","exp_month":12,"exp_year":2030},
		"payment_method":"card"}`
	none := refusal{503, v1.ErrorTypeAPIError, "acquirer_not_configured", ""}
	wantRefusal(t, b.post(t, "/v1/transactions", body, as(live)), none)
	if log := b.logs.String(); !strings.Contains(log, `"level":"WARN"`) || strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("want the refusal logged as a warning, got %s", log)
	}
	made := p.MustAddAccount(t, "")
	paid := MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", body, as(live)), 201)
	if paid.Mode != v1.ModeLive || paid.Status != v1.TransactionStatusAuthorized {
		t.Errorf("got %+v", paid)
	}
	host.Accept("planted-next")
	MustDecode[operator.Account](t, p.post(t, accounts+"/"+made.ID+"/rotate", `{"credentials":{"key":"planted-next"}}`), 200)
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", body, as(live)), 201)
	b.MustCreate(t, 100, "")                                                           // a test key
	want := []string{"planted-first", "planted-first", "planted-next", "planted-next"} // each after a check
	if got := host.Keys(); !slices.Equal(got, want) {
		t.Errorf("the host got the keys %q, want %q", got, want)
	}
	euro := `{"amount":100,"currency":"eur","payment_method":"card","card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}}`
	wantRefusal(t, b.post(t, "/v1/transactions", euro, as(live)), none)
	MustDecode[operator.Account](t, p.post(t, accounts+"/"+made.ID+"/disable", ""), 200)
	wantRefusal(t, b.post(t, "/v1/transactions", body, as(live)), none)
	captured := MustDecode[v1.Capture](t, b.post(t, "/v1/transactions/"+paid.ID+"/captures", "{}", as(live)), 201)
	if captured.Status != v1.CaptureStatusSucceeded || captured.Amount != 100 {
		t.Errorf("captured: got %+v", captured)
	}
	MustDecode[v1.Refund](t, b.post(t, "/v1/refunds", `{"transaction":"`+paid.ID+`"}`, as(live)), 201)
	got := MustDecode[operator.Account](t, p.get(t, accounts+"/"+made.ID), 200).Activity
	if got.Calls != 4 || got.Approved != 4 || got.LastSuccessAt == nil {
		t.Errorf("got %+v, want four approved calls", got)
	}
}

// TestAccountAfterARestart: the account serves live payments of the next process.
func TestAccountAfterARestart(t *testing.T) {
	t.Parallel()
	b, p, _ := hosted(t)
	p.MustAddAccount(t, "")
	live := b.live(t)
	b.restart(t)
	const body = `{"amount":100,"currency":"usd","payment_method":"card","card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}}`
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", body, as(live)), 201)
	b.MustRotate(t, true)
	MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", body, as(live)), 201)
}

// TestRefusedCredentials: the log of an unavailable payment names the account and the cause. So do
// the health of the operators' port and the list of accounts. None has the credential.
func TestRefusedCredentials(t *testing.T) {
	t.Parallel()
	b, p, host := hosted(t)
	made := p.MustAddAccount(t, "")
	host.Accept("planted-next")
	const body = `{"amount":100,"currency":"usd","payment_method":"card","card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}}`
	wantRefusal(t, b.post(t, "/v1/transactions", body, as(b.live(t))), refusal{503, v1.ErrorTypeAPIError, "acquirer_unavailable", ""})
	const cause = "the key is refused"
	health := MustDecode[operator.Health](t, p.get(t, "/v1/health"), 200).Accounts
	if len(health) != 1 || health[0].UnavailableShare != 1 || health[0].LastError != cause || health[0].LastErrorAt == nil {
		t.Errorf("health: got %+v", health)
	}
	listed := MustDecode[operator.AccountList](t, p.get(t, accounts), 200).Data
	if len(listed) != 1 || listed[0].Activity.UnavailableShare != 1 || listed[0].Activity.LastError != cause {
		t.Errorf("list: got %+v", listed)
	}
	if log := b.logs.String(); !strings.Contains(log, made.ID+": "+cause) || strings.Contains(log, "planted-") ||
		strings.Contains(log, "424242") {
		t.Errorf("got the log\n%s", log)
	}
}

// TestUnfinishedStepsOfAnAccount: operators see the steps without an outcome at their account, and
// the share of unknown outcomes.
func TestUnfinishedStepsOfAnAccount(t *testing.T) {
	t.Parallel()
	b, p, host := hosted(t)
	host.Before = func(context.Context, coretest.Call) error { return acquirer.ErrUnknown }
	made := p.MustAddAccount(t, "")
	const body = `{"amount":100,"currency":"usd","payment_method":"card","card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}}`
	if got := b.post(t, "/v1/transactions", body, as(b.live(t))); got.status != 504 {
		t.Fatalf("got %d %s, want 504", got.status, got.body)
	}
	series := func() string {
		w := httptest.NewRecorder()
		b.core.Operations().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
		return w.Body.String()
	}
	mine := `causeway_account_unfinished_steps{account="` + made.ID + `"}`
	shown := func() [2]int64 {
		t.Helper()
		health := MustDecode[operator.Health](t, p.get(t, "/v1/health"), 200).Accounts
		read := MustDecode[operator.Account](t, p.get(t, accounts+"/"+made.ID), 200)
		listed := MustDecode[operator.AccountList](t, p.get(t, accounts), 200).Data
		if len(health) != 1 || len(listed) != 1 || read.Activity.Unfinished != listed[0].Activity.Unfinished {
			t.Fatalf("got %+v, %+v, %+v", health, read, listed)
		}
		if health[0].UnknownShare != 1 || health[0].LastSuccessAt != nil {
			t.Errorf("got %+v, want unknown outcomes alone", health[0])
		}
		return [2]int64{health[0].Unfinished, read.Activity.Unfinished}
	}
	if got := shown(); got != [2]int64{} {
		t.Errorf("within a minute: got %v", got)
	}
	if text := series(); strings.Contains(text, mine) || !strings.Contains(text, `causeway_account_unfinished_steps{account="other"} 0`) {
		t.Error("within a minute: the metrics have an unfinished step")
	}
	b.clock.Advance(time.Minute)
	if got := shown(); got != [2]int64{1, 1} {
		t.Errorf("after a minute: got %v, want one", got)
	}
	if text := series(); !strings.Contains(text, mine+" 1") {
		t.Error("after a minute: the metrics lack the unfinished step")
	}
}
