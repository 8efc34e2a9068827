//go:build unix

package fleet_test

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/fleet"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// sender sends each payment on a new connection.
type sender struct {
	url, path, key, body, want string
	client                     *http.Client
}

func (d *sender) pay(t *testing.T) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.url+d.path, strings.NewReader(d.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+d.key)
	r.Header.Set("Content-Type", "application/json")
	got, err := d.client.Do(r)
	if err != nil {
		t.Errorf("%s%s: %v", d.url, d.path, err)
		return
	}
	text, err := io.ReadAll(got.Body)
	if _ = got.Body.Close(); err != nil || !strings.Contains(string(text), d.want) {
		t.Errorf("%s%s: got %d %s, %v, want %s", d.url, d.path, got.StatusCode, text, err, d.want)
	}
}

func v1(f *fleet.Fleet, url, source string) *sender {
	return &sender{
		url: url, path: "/v1/transactions", key: f.Secret,
		body:   `{"amount":1250,"currency":"usd","payment_method":"` + source + `"}`,
		want:   `"status":"captured"`,
		client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: programtest.Patience},
	}
}

// TestFleetPostgreSQL: every instance accepts payments of v1 and of both providers. The balancer
// skips an instance that has ended or is paused, until it serves again at its address.
func TestFleetPostgreSQL(t *testing.T) {
	t.Parallel()
	f := fleet.Start(t, fleet.Config{Cores: 2, Filters: 2, Proxies: 2, Store: pgtest.Schema(t)})
	for _, g := range []*fleet.Group{f.Cores, f.Filters} {
		for _, i := range g.All() {
			v1(f, i.URL(), "card").pay(t)
		}
	}
	for n, i := range f.Proxies.All() {
		d := v1(f, i.URL(), "card")
		d.path, d.want = "/pts/v2/payments", `"status":"AUTHORIZED"`
		d.body = `{"processingInformation":{"capture":true},"paymentInformation":{` +
			`"card":{"number":"4111111111111111","expirationMonth":"04",
			"expirationYear":"2031"}},"orderInformation":{"amountDetails":{"totalAmount":"12.50","currency":"USD"}}}`
		d.pay(t)
		d.path, d.want = "/xml/v1/request.api", "<responseCode>1</responseCode>"
		d.body = `<createTransactionRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd">` +
			`<merchantAuthentication><name>` + f.ProviderA.Name +
			`</name><transactionKey>` + f.ProviderA.TransactionKey + `</transactionKey></merchantAuthentication>` +
			`<transactionRequest><transactionType>` +
			`authCaptureTransaction</transactionType><amount>12.5` + string(rune('0'+n)) + `</amount><payment><creditCard>` +
			`<cardNumber>4111111111111111` +
			`</cardNumber><expirationDate>2031-04</expirationDate></creditCard></payment>` +
			`</transactionRequest></createTransactionRequest>`
		d.pay(t)
	}
	any, one := v1(f, f.Cores.URL(), "card"), f.Cores.All()[0]
	for name, away := range map[string]struct{ leave, back func() }{
		"killed":  {one.Kill, func() { one.Start(t) }},
		"paused":  {one.Pause, one.Resume},
		"stopped": {func() { one.Stop(t) }, func() { one.Start(t) }},
	} {
		programtest.WaitFor(t, "one core leads", func() bool { return f.Leader(t.Context()) != nil })
		away.leave()
		for range 4 { // each turn of the balancer
			any.pay(t)
		}
		away.back()
		v1(f, one.URL(), "card").pay(t)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// TestStopPostgreSQL: a core that stops sends the responses of the requests in progress first.
func TestStopPostgreSQL(t *testing.T) {
	t.Parallel()
	f := fleet.Start(t, fleet.Config{Cores: 1, Store: pgtest.Schema(t)})
	one := f.Cores.All()[0]
	paid := make(chan struct{})
	go func() {
		defer close(paid)
		v1(f, f.Cores.URL(), "pm_card_slow").pay(t) // its approval takes five seconds
	}()
	programtest.WaitFor(t, "the payment is under way", func() bool {
		return strings.Contains(transactions(t, f), `"processing"`)
	})
	one.Stop(t)
	<-paid
}

// transactions returns the list of v1.
func transactions(t *testing.T, f *fleet.Fleet) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.Cores.URL()+"/v1/transactions", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+f.Secret)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(got.Body)
	if err != nil || got.Body.Close() != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestUsePostgreSQL: from its next start an instance runs another binary. A binary that is missing
// is an error of Launch.
func TestUsePostgreSQL(t *testing.T) {
	t.Parallel()
	f := fleet.Start(t, fleet.Config{Cores: 1, Store: pgtest.Schema(t)})
	one, other := f.Cores.All()[0], t.TempDir()
	script := "#!/bin/sh\necho another binary\nexec " + filepath.Join(fleet.Binaries(t), "core") + ` "$@"` + "\n"
	if err := os.WriteFile(filepath.Join(other, "core"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	one.Use(other)
	one.Stop(t)
	one.Start(t)
	v1(f, one.URL(), "card").pay(t)
	if !strings.Contains(one.Log(), "another binary\n") {
		t.Errorf("the log does not say so:\n%s", one.Log())
	}
	one.Stop(t)
	one.Use(t.TempDir())
	if err := one.Launch(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("launch without a binary: got %v, want %v", err, fs.ErrNotExist)
	}
}
