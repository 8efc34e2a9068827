package standalone_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/clock"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// signedRequest returns a request with an HTTP signature of the process's own login. It can be sent
// repeatedly.
func signedRequest(tb testing.TB, p *process, base, path, body string) *http.Request {
	tb.Helper()
	return signedLater(tb, p, base, path, body, 0)
}

// signedLater returns a request whose signature has a date that much later.
func signedLater(tb testing.TB, p *process, base, path, body string, later time.Duration) *http.Request {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, base+path, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	key, err := base64.StdEncoding.DecodeString(p.ProviderB.SharedSecret)
	if err != nil {
		tb.Fatal(err)
	}
	sum := sha256.Sum256([]byte(body))
	digest := "SHA-256=" + base64.StdEncoding.EncodeToString(sum[:])
	date := clock.System().Now().Add(later).UTC().Format(http.TimeFormat)
	mac := hmac.New(sha256.New, key)
	// a hash never fails
	_, _ = fmt.Fprintf(mac, "host: %s\ndate: %s\nrequest-target: post %s\ndigest: %s\nv-c-merchant-id: %s",
		r.URL.Host, date, path, digest, p.ProviderB.MerchantID)
	for name, value := range map[string]string{
		"Date": date, "Digest": digest, "V-C-Merchant-Id": p.ProviderB.MerchantID, "Content-Type": "application/json",
		"Signature": fmt.Sprintf(
			`keyid="%s", algorithm="HmacSHA256", headers="host date request-target digest v-c-merchant-id", signature="%s"`,
			p.ProviderB.KeyID, base64.StdEncoding.EncodeToString(mac.Sum(nil))),
	} {
		r.Header.Set(name, value)
	}
	return r
}

// sendSigned sends the request again and checks the result.
func sendSigned(tb testing.TB, client *http.Client, r *http.Request, want string) restResponse {
	tb.Helper()
	again := r.Clone(tb.Context())
	body, err := r.GetBody()
	if err != nil {
		tb.Fatal(err)
	}
	again.Body = body
	got, err := client.Do(again)
	if err != nil {
		tb.Fatal(err)
	}
	data, err := io.ReadAll(got.Body)
	_ = got.Body.Close() // read to its end
	a := restResponse{HTTP: got.StatusCode, Body: string(data)}
	if err != nil || json.Unmarshal(data, &a) != nil || a.result() != want {
		tb.Errorf("%s = %d %s (%v), want %s", r.URL.Path, got.StatusCode, data, err, want)
	}
	return a
}

// sendAndLeave sends the request and disconnects before the response.
func sendAndLeave(tb testing.TB, p *process, r *http.Request) {
	tb.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(context.WithoutCancel(tb.Context()), "tcp", strings.TrimPrefix(p.HTTP, "http://"))
	if err != nil {
		tb.Fatal(err)
	}
	again := r.Clone(tb.Context())
	if again.Body, err = r.GetBody(); err != nil {
		tb.Fatal(err)
	}
	var raw bytes.Buffer
	if err := again.Write(&raw); err != nil {
		tb.Fatal(err)
	}
	if _, err := conn.Write(raw.Bytes()); err != nil {
		tb.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		tb.Fatal(err)
	}
}

// TestRecordedSignedRequest repeats a recorded request: after its response was delivered or lost,
// at another proxy, at a newly started one, and with other unsigned headers. It moves money once.
func TestRecordedSignedRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	client, m := patientClient(t), merchantOf(t, p)
	sale := sendSigned(t, client, signedRequest(t, p, p.HTTP, restPayments, restPayment("20.00", "USD", true, "")),
		"AUTHORIZED")
	refunds := restPayments + "/" + sale.ID + "/refunds"
	const body = `{"orderInformation":{"amountDetails":{"totalAmount":"2.00"}}}`
	for _, first := range []string{"", "K-1"} {
		before := stored(t, m, sale.ID).AmountRefunded
		recorded := signedRequest(t, p, p.HTTP, refunds,
			strings.Replace(body, "{", `{"clientReferenceInformation":{"code":"of `+first+`"},`, 1))
		under := func(header string, base *replica) *http.Request {
			r := recorded.Clone(t.Context())
			if header != "" {
				r.Header.Set("v-c-idempotency-id", header)
			}
			if base != nil { // the host stays as signed
				r.URL.Host = strings.TrimPrefix(base.base, "http://")
				r.Host = recorded.URL.Host
			}
			return r
		}
		sendAndLeave(t, p, under(first, nil))
		one := sendSigned(t, client, under(first, nil), "PENDING")
		for range 3 {
			other := startReplica(t, p.HTTP, logins(dir))
			if again := sendSigned(t, client, under(first, other), "PENDING"); again.ID != one.ID {
				t.Errorf("a recorded refund made another one: %s and %s", one.ID, again.ID)
			}
			for _, header := range []string{"K-1", "K-2", ""} {
				if header != first {
					sendSigned(t, client, under(header, other), "INVALID_DATA")
				}
			}
		}
		if got := stored(t, m, sale.ID).AmountRefunded; got != before+200 {
			t.Errorf("first under %q: refunded %d, want %d", first, got-before, 200)
		}
	}
}

// TestSignedCredit checks that a login without the permission for unlinked refunds moves no money
// with one.
func TestSignedCredit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, "--log", "error")
	client, m := patientClient(t), merchantOf(t, p)
	own, err := os.ReadFile(logins(dir))
	if err != nil {
		t.Fatal(err)
	}
	allowed, denied := []byte("unlinked_credits: true"), []byte("unlinked_credits: false")
	if !bytes.Contains(own, allowed) {
		t.Fatalf("the development login may give no credits:\n%s", own)
	}
	strict := filepath.Join(dir, "strict.yaml")
	if err := os.WriteFile(strict, bytes.ReplaceAll(own, allowed, denied), 0o600); err != nil {
		t.Fatal(err)
	}
	credit := restPayment("5.00", "USD", false, "")
	other := startReplica(t, p.HTTP, strict)
	sendSigned(t, client, signedRequest(t, p, other.base, "/pts/v2/credits", credit), "ACCOUNT_NOT_ALLOWED_CREDIT")
	given := func() int {
		return len(mustDecode[v1.RefundList](t, m.must(t, http.MethodGet, "/v1/refunds", "", "")).Data)
	}
	if got := given(); got != 0 {
		t.Errorf("refunds: got %d, want none", got)
	}
	sendSigned(t, client, signedRequest(t, p, p.HTTP, "/pts/v2/credits", credit), "PENDING")
	if got := given(); got != 1 {
		t.Errorf("refunds: got %d, want one", got)
	}
}
