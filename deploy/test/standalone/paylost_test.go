package standalone_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// restPaid is a kind of payment at the REST endpoint, with its expected state in v1.
type restPaid struct {
	body     string // {name} stands for the request's name
	captured int64
	keeps    bool // it makes a customer
}

var restPayKinds = map[string]restPaid{
	"authorization": {body: restPayment("20.00", "USD", false, "{name}")},
	"sale":          {body: restPayment("20.00", "USD", true, "{name}"), captured: 2000},
	"sale-in-steps": {body: withAddress(restPayment("20.00", "USD", true, "{name}")), captured: 2000},
	"sale-that-keeps": {
		body: strings.Replace(withAddress(restPayment("20.00", "USD", true, "{name}")), `"capture":true`,
			`"capture":true,"actionList":["TOKEN_CREATE"]`, 1),
		captured: 2000, keeps: true,
	},
}

// nthCall applies a fate to the n-th call of a proxy, without the calls that read its key. All
// others pass.
func nthCall(n int32, f fate) func(*http.Request) fate {
	var met atomic.Int32
	return func(r *http.Request) fate {
		if !strings.HasSuffix(r.URL.Path, "/api_keys/current") && met.Add(1) == n {
			return f
		}
		return passes
	}
}

// TestProxyDiesUnderAPayment kills the proxy at each of its calls to v1 during a payment. A retry
// through any proxy completes the same payment, and a further one gets the same result.
func TestProxyDiesUnderAPayment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	other := startReplica(t, p.HTTP, logins(dir))
	want := map[string]restPaid{} // by number
	for kind, k := range restPayKinds {
		for _, f := range []fate{diesBefore, diesAfter} {
			for n := int32(1); ; n++ {
				body := strings.ReplaceAll(k.body, "{name}", kind+"-"+strconv.Itoa(int(n))+"-"+strconv.Itoa(int(f)))
				way := startRelay(t, p.HTTP)
				killed := startReplica(t, way.base, logins(dir))
				way.fate, way.die = nthCall(n, f), killed.Kill
				first, err := (&restClient{killed.base, d.key, d.http}).do(t.Context(), http.MethodPost, restPayments, body)
				again := (&restClient{other.base, d.key, d.http}).must(t, restPayments, body, "AUTHORIZED")
				third := d.must(t, restPayments, body, "AUTHORIZED")
				if again.Body != third.Body || err == nil && first.Body != again.Body ||
					strings.Contains(again.Body, "tokenInformation") != k.keeps {
					t.Errorf("%s, call %d: responses differ:\n%s\n%s\n%s", kind, n, first.Body, again.Body, third.Body)
				}
				want[txn(t, again.ID)] = k
				if err == nil { // the payment has fewer calls
					break
				}
			}
		}
	}
	checkPaid(t, m, want)
	checkAgreed(t, p, dir)
}

// TestConnectionToV1BreaksUnderAPayment breaks the connection between the proxy and v1 at each call
// of a payment. The client gets an approval, and the payment exists once.
func TestConnectionToV1BreaksUnderAPayment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	d, m := restClientOf(t, p), merchantOf(t, p)
	want := map[string]restPaid{}
	for f := range fateNames {
		way := startRelay(t, p.HTTP)
		way.fate = func(*http.Request) fate { return passes }
		proxy := restClient{startReplica(t, way.base, logins(dir)).base, d.key, d.http}
		for kind, k := range restPayKinds {
			for n := int32(1); n <= 8; n++ {
				way.fate = nthCall(n, f)
				body := strings.ReplaceAll(k.body, "{name}", kind+"-"+strconv.Itoa(int(n))+"-"+strconv.Itoa(int(f)))
				want[txn(t, proxy.must(t, restPayments, body, "AUTHORIZED").ID)] = k
				if n == 1 { // a payment has at least one call
					way.wantBroken(t, kind)
				}
			}
		}
	}
	checkPaid(t, m, want)
	checkAgreed(t, p, dir)
}

// checkPaid checks that v1 has exactly these payments, each once and complete.
func checkPaid(t *testing.T, m *merchant, want map[string]restPaid) {
	t.Helper()
	all := m.transactions(t)
	if len(all) != len(want) {
		t.Errorf("payments: got %d, want %d", len(all), len(want))
	}
	keep := 0
	for _, k := range want {
		if k.keeps {
			keep++
		}
	}
	for _, x := range all {
		k, known := want[x.ID]
		if !known || x.AmountAuthorized != 2000 || x.AmountCaptured != k.captured {
			t.Errorf("%s: known %v, authorized %d, captured %d, want 2000 and %d", x.ID, known, x.AmountAuthorized,
				x.AmountCaptured, k.captured)
		}
	}
	list := mustDecode[v1.CustomerList](t, m.must(t, http.MethodGet, "/v1/customers?limit=100", "", ""))
	if len(list.Data) != keep {
		t.Errorf("customers: got %d, want %d", len(list.Data), keep)
	}
}

// signed sends a body to a path with a signature of the given time. It returns the response, or ""
// if that was lost.
func (p *process) signed(t *testing.T, client *http.Client, url, path, body string, at time.Time) string {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(p.ProviderB.SharedSecret)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, url+path,
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	const host = "apitest.cybersource.com"
	date, sum := at.UTC().Format(http.TimeFormat), sha256.Sum256([]byte(body))
	digest := "SHA-256=" + base64.StdEncoding.EncodeToString(sum[:])
	mac := hmac.New(sha256.New, key)
	_, _ = io.WriteString(mac, "host: "+host+"\ndate: "+date+"\nrequest-target: post "+path+"\ndigest: "+digest+
		"\nv-c-merchant-id: "+p.ProviderB.MerchantID)
	r.Host = host
	for name, value := range map[string]string{
		"Date": date, "Digest": digest, "V-C-Merchant-Id": p.ProviderB.MerchantID, "Content-Type": "application/json",
		"Signature": `keyid="` + p.ProviderB.KeyID +
			`", algorithm="HmacSHA256", headers="host date request-target digest v-c-merchant-id", signature="` +
			base64.StdEncoding.EncodeToString(mac.Sum(nil)) + `"`,
	} {
		r.Header.Set(name, value)
	}
	got, err := client.Do(r)
	if err != nil {
		return ""
	}
	defer got.Body.Close() //nolint:errcheck // read to its end
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return ""
	}
	return string(text)
}

// signedPayment calls signed for a payment, and returns its number, or "" if the response was lost.
func (p *process) signedPayment(t *testing.T, client *http.Client, url, body string, at time.Time) string {
	t.Helper()
	text := p.signed(t, client, url, restPayments, body, at)
	if text == "" {
		return ""
	}
	a := mustDecode[restResponse](t, response{body: text})
	if a.Status != "AUTHORIZED" {
		t.Fatalf("got %s", text)
	}
	return a.ID
}

// TestSignedPaymentComesAgain repeats a signed request byte for byte. It is the same payment, also
// after its proxy died: no running proxy has seen its first response. A request with another body,
// or signed in another second, is another payment.
func TestSignedPaymentComesAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	m, client := merchantOf(t, p), patientClient(t)
	other := startReplica(t, p.HTTP, logins(dir))
	now := time.Now() //nolint:forbidigo // the processes under test have the machine's clock
	lost := withAddress(restPayment("20.00", "USD", true, ""))
	another := withAddress(restPayment("21.00", "USD", true, ""))
	for n := int32(1); n <= 2; n++ {
		way := startRelay(t, p.HTTP)
		killed := startReplica(t, way.base, logins(dir))
		way.fate, way.die = nthCall(n, diesAfter), killed.Kill
		if id := p.signedPayment(t, client, killed.base, lost, now); id != "" {
			t.Fatalf("call %d: the proxy responded", n)
		}
	}
	first := p.signedPayment(t, client, other.base, lost, now)
	if got := len(m.transactions(t)); got != 1 {
		t.Errorf("after two proxies died: got %d payments, want 1", got)
	}
	if second := p.signedPayment(t, client, other.base, lost, now); second != first {
		t.Errorf("after two proxies died: got payments %s and %s", first, second)
	}
	if a, b := p.signedPayment(t, client, other.base, another, now),
		p.signedPayment(t, client, p.HTTP, another, now); a != b || a == first {
		t.Errorf("another request, twice: got payments %s and %s", a, b)
	}
	if later := p.signedPayment(t, client, other.base, lost, now.Add(time.Second)); later == first {
		t.Errorf("a request of another second: got %s again", later)
	}
	if got := len(m.transactions(t)); got != 3 {
		t.Errorf("got %d payments, want 3", got)
	}
	checkAgreed(t, p, dir)
}
