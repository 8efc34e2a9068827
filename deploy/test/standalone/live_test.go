package standalone_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// liveKinds are the flags and the credentials of an account at another standalone, by kind.
var liveKinds = map[string]func(up *process) (settings, credentials string){
	"provider-a": func(up *process) (settings, credentials string) {
		return "name=" + up.ProviderA.Name, fmt.Sprintf(`{"transaction_key":%q}`, up.ProviderA.TransactionKey)
	},
	"provider-b": func(up *process) (settings, credentials string) {
		return "merchant_id=" + up.ProviderB.MerchantID,
			fmt.Sprintf(`{"key_id":%q,"shared_secret":%q}`, up.ProviderB.KeyID, up.ProviderB.SharedSecret)
	},
}

// pair is a standalone whose live mode pays at the legacy endpoint of another.
type pair struct {
	dir      string    // of the first
	process  *process  // the first
	live     *merchant // at the first, with the live key
	upstream *merchant // at the other, with the test key
}

// startPair starts two standalones. The first has no account yet.
func startPair(t *testing.T) (p pair, up *process) {
	t.Helper()
	up, p.dir = start(t, t.TempDir()), t.TempDir()
	p.process = start(t, p.dir)
	p.live, p.upstream = merchantOf(t, p.process), merchantOf(t, up)
	p.live.key = p.process.Keys.SKLive
	return p, up
}

// addAccount adds the account by the command line.
func (p pair) addAccount(t *testing.T, kind, base string, up *process) {
	t.Helper()
	settings, credentials := liveKinds[kind](up)
	file := filepath.Join(t.TempDir(), "credentials.json")
	if err := os.WriteFile(file, []byte(credentials), 0o600); err != nil {
		t.Fatal(err)
	}
	key := mustDecode[v1.APIKey](t, p.live.must(t, http.MethodGet, "/v1/api_keys/current", "", ""))
	args := []string{
		"accounts", "add", "--data", filepath.Join(p.dir, "core"), "--merchant", key.Merchant, "--kind", kind,
		"--currency", "usd", "--base-url", base, "--credentials", file,
	}
	for _, s := range strings.Fields(settings) {
		args = append(args, "--setting", s)
	}
	got := programtest.MustOutput(t, programtest.Command{Path: filepath.Join(bin, "core"), Args: args})
	if !strings.HasPrefix(got, "acct_") {
		t.Fatalf("core accounts add printed %q", got)
	}
}

// pay makes a payment with the live key.
func (p pair) pay(t *testing.T, reference, capture, card string, amount int64) response {
	t.Helper()
	return p.live.must(t, http.MethodPost, "/v1/transactions", reference, fmt.Sprintf(
		`{"amount":%d,"currency":"usd","capture":%q,"reference":%q,"payment_method":"card","card":{"number":%q,`+
			`"exp_month":12,"exp_year":2031,"cvc":"123"},"billing":{"first_name":"Ada","last_name":"Example",`+
			`"email":"ada@example.org","address":{"line1":"1 Main Street","city":"Austin","state":"TX",`+
			`"postal_code":"73301","country":"US"}}}`,
		amount, capture, reference, card))
}

// mustPay is pay with an approving card. It returns the payment.
func (p pair) mustPay(t *testing.T, reference, capture string, amount int64) v1.Transaction {
	t.Helper()
	got := p.pay(t, reference, capture, "4111111111111111", amount)
	if got.status != http.StatusCreated {
		t.Fatalf("%s: got %d %s, want it approved", reference, got.status, got.body)
	}
	return mustDecode[v1.Transaction](t, got)
}

// step makes a step on a payment and returns the payment afterwards.
func (p pair) step(t *testing.T, on v1.Transaction, path, body string) v1.Transaction {
	t.Helper()
	of := strings.NewReplacer("{id}", on.ID)
	got := p.live.must(t, http.MethodPost, of.Replace(path), path+on.ID, of.Replace(body))
	if got.status/100 != 2 {
		t.Fatalf("%s of %s: got %d %s", path, *on.Reference, got.status, got.body)
	}
	return mustDecode[v1.Transaction](t, p.live.must(t, http.MethodGet, "/v1/transactions/"+on.ID, "", ""))
}

// upstreamOf returns the upstream's payment for a reference. provider-a has it as the description.
func (p pair) upstreamOf(t *testing.T, reference string) v1.Transaction {
	t.Helper()
	var found []v1.Transaction
	for _, one := range p.upstream.transactions(t) {
		if v1.Text(one.Reference) == reference || v1.Text(one.Description) == reference {
			found = append(found, one)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s: the upstream has %d payments, want 1", reference, len(found))
	}
	return found[0]
}

// wantEqual checks that the upstream has the same money as the payment.
func (p pair) wantEqual(t *testing.T, is v1.Transaction) {
	t.Helper()
	up := p.upstreamOf(t, *is.Reference)
	isVoided, upVoided := is.Status == v1.TransactionStatusVoided, up.Status == v1.TransactionStatusVoided
	if up.Amount != is.Amount || up.AmountAuthorized != is.AmountAuthorized || up.AmountCaptured != is.AmountCaptured ||
		up.AmountRefunded != is.AmountRefunded || upVoided != isVoided {
		t.Errorf("%s: the upstream has %s %d/%d/%d, want %s %d/%d/%d", *is.Reference,
			up.Status, up.AmountAuthorized, up.AmountCaptured, up.AmountRefunded,
			is.Status, is.AmountAuthorized, is.AmountCaptured, is.AmountRefunded)
	}
}

// TestLive: with an account, live keys move money at the account's provider, here another
// standalone. Test keys never do. Without an account, live payments are refused.
func TestLive(t *testing.T) {
	t.Parallel()
	for kind := range liveKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p, up := startPair(t)
			if got := p.pay(t, "early", "automatic", "4111111111111111", 100); got.status != http.StatusServiceUnavailable ||
				!strings.Contains(got.body, "acquirer_not_configured") {
				t.Fatalf("without an account: got %d %s", got.status, got.body)
			}
			p.addAccount(t, kind, up.HTTP, up)
			programtest.WaitFor(t, "the account serves", func() bool {
				return p.pay(t, "first", "automatic", "4111111111111111", 100).status == http.StatusCreated
			})
			p.steps(t)
			if kind == "provider-b" { // provider-a makes one capture of an authorization
				p.captures(t)
			}
			before := len(p.upstream.transactions(t))
			tested := merchantOf(t, p.process)
			if got := tested.must(t, http.MethodPost, "/v1/transactions", "tested",
				`{"amount":100,"currency":"usd","payment_method":"card"}`); got.status != http.StatusCreated {
				t.Errorf("with a test key: got %d %s", got.status, got.body)
			}
			if got := len(p.upstream.transactions(t)); got != before {
				t.Errorf("a test key moved money at the account: the upstream has %d payments, want %d", got, before)
			}
		})
	}
}

// steps makes each kind of step, and compares the upstream after it.
func (p pair) steps(t *testing.T) {
	t.Helper()
	sale := p.mustPay(t, "sale", "automatic", 2000)
	p.wantEqual(t, sale)
	if sale.Status != v1.TransactionStatusCaptured || sale.Mode != v1.ModeLive {
		t.Errorf("sale: got %s in %s mode", sale.Status, sale.Mode)
	}
	settle(t, p.upstream, p.upstreamOf(t, "sale").ID)
	p.wantEqual(t, p.step(t, sale, "/v1/refunds", `{"transaction":"{id}","amount":250}`))
	held := p.mustPay(t, "held", "manual", 1500)
	p.wantEqual(t, held)
	p.wantEqual(t, p.step(t, held, "/v1/transactions/{id}/captures", `{"amount":500,"final":true}`))
	p.wantEqual(t, p.step(t, p.mustPay(t, "voided", "manual", 700), "/v1/transactions/{id}/void", ""))
	p.wantEqual(t, p.step(t, p.mustPay(t, "voided sale", "automatic", 800), "/v1/transactions/{id}/void", ""))
	if got := p.pay(t, "declined", "automatic", "4000000000000002", 900); got.status != http.StatusPaymentRequired {
		t.Errorf("a declined card: got %d %s", got.status, got.body)
	}
	p.wantEqual(t, p.mustPay(t, "verified", "manual", 0))
}

// captures captures an authorization in three parts and refunds it without naming a capture. The
// upstream must have the same refunded amount of each capture.
func (p pair) captures(t *testing.T) {
	t.Helper()
	held := p.mustPay(t, "parts", "manual", 1500)
	take := "/v1/transactions/" + held.ID + "/captures"
	send := func(path, key, body string, want int) response {
		t.Helper()
		got := p.live.must(t, http.MethodPost, path, key, body)
		if got.status != want {
			t.Fatalf("%s %s: got %d %s, want %d", path, body, got.status, got.body, want)
		}
		return got
	}
	for i, body := range []string{`{"amount":500}`, `{"amount":600}`, `{}`} { // the last one takes the rest
		send(take, fmt.Sprint("parts", i), body, http.StatusCreated)
	}
	refund := func(key, amount string, want int) response {
		t.Helper()
		return send("/v1/refunds", key, fmt.Sprintf(`{"transaction":%q%s}`, held.ID, amount), want)
	}
	refund("first of parts", `,"amount":400`, http.StatusCreated)
	refund("second of parts", `,"amount":400`, http.StatusCreated)
	if got := refund("all of parts", "", http.StatusBadRequest); !strings.Contains(got.body, "100 of cap_") ||
		!strings.Contains(got.body, "600 of cap_") {
		t.Errorf("a refund of all captures: got %s, want the rest of each", got.body)
	}
	refund("third of parts", `,"amount":600`, http.StatusCreated)
	refund("rest of parts", "", http.StatusCreated)
	p.wantEqual(t, mustDecode[v1.Transaction](t, p.live.must(t, http.MethodGet, "/v1/transactions/"+held.ID, "", "")))
	up := p.upstreamOf(t, "parts")
	if up.Status != v1.TransactionStatusCaptured || up.AmountRefunded != 1500 {
		t.Errorf("the upstream has %s, %d refunded, want captured, 1500", up.Status, up.AmountRefunded)
	}
	taken := p.upstream.must(t, http.MethodGet, "/v1/transactions/"+up.ID+"/captures", "", "")
	for _, c := range mustDecode[v1.CaptureList](t, taken).Data {
		if c.AmountRefunded != c.Amount {
			t.Errorf("the upstream has %d of the capture of %d refunded, want all", c.AmountRefunded, c.Amount)
		}
	}
}
