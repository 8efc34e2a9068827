package api_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/datadir"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// rotateWithProgress rotates the vault like another process.
func (b *bundle) rotateWithProgress(t *testing.T, drop bool, progress *bytes.Buffer) error {
	t.Helper()
	a, err := admin.Open(t.Context(), b.config())
	if err != nil {
		t.Fatal(err)
	}
	return errors.Join(a.RotateVault(t.Context(), drop, progress), a.Close())
}

// MustRotate rotates and returns the last line of the progress.
func (b *bundle) MustRotate(t *testing.T, drop bool) string {
	t.Helper()
	var progress bytes.Buffer
	if err := b.rotateWithProgress(t, drop, &progress); err != nil {
		t.Fatalf("%v: %s", err, progress.String())
	}
	lines := strings.Split(strings.TrimSpace(progress.String()), "\n")
	return lines[len(lines)-1]
}

// keys counts the vault's keys by which a row is sealed.
func (b *bundle) keys(t *testing.T) int64 {
	t.Helper()
	return b.number(t, `SELECT COUNT(*) FROM (SELECT vault_key FROM tokens WHERE number IS NOT NULL
		UNION SELECT vault_key FROM payment_methods WHERE number IS NOT NULL) AS used`)
}

// TestRotateVaultWhileTheServiceRuns: payments, tokens and attachments continue during a rotation.
// In the end no row needs an old key.
func TestRotateVaultWhileTheServiceRuns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	var methods, tokens []string
	for range 20 {
		methods = append(methods, b.MustAttach(t, customer, visa).ID)
		tokens = append(tokens, b.MustToken(t, visa).Value.Reveal())
	}
	stop, done := make(chan struct{}), make(chan int, 1)
	go func() {
		n := 0
		for ; !isClosed(stop); n++ {
			token, err := b.try(t, "POST", "/v1/tokens", visa)
			if err != nil || token.status != 201 {
				t.Errorf("token: got %d %s, %v", token.status, token.body, err)
				break
			}
			paid, err := b.try(t, "POST", "/v1/transactions", paid(methods[n%len(methods)], ""))
			if err != nil || paid.status != 201 {
				t.Errorf("payment: got %d %s, %v", paid.status, paid.body, err)
				break
			}
		}
		done <- n
	}()
	for _, drop := range []bool{false, true, true, false} {
		last := b.MustRotate(t, drop)
		if got, want := strings.Contains(last, "; 0 older keys"), drop; got != want {
			t.Errorf("drop %t: progress %q", drop, last)
		}
	}
	close(stop)
	if <-done == 0 {
		t.Error("nothing happened meanwhile")
	}
	last := b.MustRotate(t, true)
	if got := b.keys(t); got != 1 || !strings.Contains(last, "; 0 older keys") {
		t.Errorf("sealed by %d keys, want 1: %s", got, last)
	}
	for i := range methods {
		MustDecode[v1.Transaction](t, b.pay(t, methods[i], ""), 201)
		txn := MustDecode[v1.Transaction](t, b.pay(t, tokens[i], ""), 201)
		if got, want := txn.Checks.Cvc, v1.CheckResult("match"); got != want {
			t.Fatalf("cvc after the rotations: got %s, want %s", got, want)
		}
	}
	b.restart(t)
	MustDecode[v1.Transaction](t, b.pay(t, methods[0], ""), 201)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestRotationOfWipedRows: after any rotation, a wiped row has the same response as before.
func TestRotationOfWipedRows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	m, token := b.MustAttach(t, customer, visa).ID, b.MustToken(t, visa).Value.Reveal()
	first := b.pay(t, m, "", keyed("k"))
	MustDecode[v1.Deleted](t, b.do(t, "DELETE", "/v1/customers/"+customer+"/payment_methods/"+m, ""), 200)
	b.clock.Advance(time.Hour)
	b.restart(t) // which sweeps
	programtest.WaitFor(t, "the numbers of tokens are removed", func() bool {
		return b.number(t, "SELECT COUNT(*) FROM tokens WHERE number IS NOT NULL") == 0
	})
	b.MustRotate(t, true)
	wantRefusal(t, b.pay(t, token, ""), invalid("token_expired", "payment_method"))
	wantRefusal(t, b.attach(t, customer, token), invalid("token_expired", "token"))
	wantRefusal(t, b.pay(t, m, ""), invalid("unknown_payment_method", "payment_method"))
	wantReplay(t, b.pay(t, m, "", keyed("k")), first)
}

// TestRotationOfAMovedRow: the error names a row that does not open, and the old keys are not
// dropped. All other rows are re-encrypted.
func TestRotationOfAMovedRow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	customer := b.MustCustomer(t, "{}").ID
	moved, whole := b.MustAttach(t, customer, visa).ID, b.MustAttach(t, customer, visa).ID
	b.write(t, fmt.Sprintf("UPDATE payment_methods SET live = 1 WHERE id = %d", numberOf(t, "pm", moved)))
	for range 2 {
		var progress bytes.Buffer
		if err := b.rotateWithProgress(t, true, &progress); !errors.Is(err, vault.ErrStillSealed) || !strings.Contains(progress.String(), moved) {
			t.Errorf("got %v, progress %s", err, progress.String())
		}
		MustDecode[v1.Transaction](t, b.pay(t, whole, ""), 201)
	}
	b.write(t, "UPDATE payment_methods SET live = 0")
	if last := b.MustRotate(t, true); !strings.Contains(last, "; 0 older keys") {
		t.Errorf("progress %q", last)
	}
	MustDecode[v1.Transaction](t, b.pay(t, moved, ""), 201)
}

// TestRewrapVaultSQLite moves a vault from the derived key to a given key, and then to another.
func TestRewrapVaultSQLite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	token := b.MustToken(t, visa).Value.Reveal()
	one := secret.New(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32)))
	two := secret.New(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{2}, 32)))
	rewrap := func(old, now secret.String) error {
		return admin.RewrapVault(t.Context(), datadir.Config{Data: b.dir, Clock: b.clock, VaultKEK: now}, old)
	}
	if err := rewrap(one, two); err == nil {
		t.Error("a vault was rewrapped from a key that it did not have")
	}
	if err := rewrap(secret.String{}, secret.New("short")); err == nil {
		t.Error("a vault was rewrapped by a key that is none")
	}
	for _, step := range [][2]secret.String{{{}, one}, {{}, one}, {one, two}, {one, two}, {two, {}}} {
		if err := rewrap(step[0], step[1]); err != nil {
			t.Fatal(err)
		}
	}
	b.restart(t) // with the derived key again
	if got := MustDecode[v1.Transaction](t, b.pay(t, token, ""), 201); got.Checks.Cvc != "match" {
		t.Errorf("cvc: got %s", got.Checks.Cvc)
	}
}

// cards makes n card numbers with valid check digits, each with a security code. They appear
// nowhere else.
func cards(n int) (numbers, codes []string) {
	for i := range n {
		brand := []string{"4539", "5425", "3742"}[i%3]
		body := fmt.Sprintf("%s%011d", brand, 57876362148+i*7919)
		code := fmt.Sprintf("%03d", 137+i*13)
		if brand[0] == '3' {
			body, code = body[:14], fmt.Sprintf("%04d", 7351+i*7)
		}
		numbers, codes = append(numbers, body+checkDigit(body)), append(codes, code)
	}
	return numbers, codes
}

func checkDigit(body string) string {
	sum := 0
	for i := range len(body) {
		d := int(body[len(body)-1-i] - '0')
		if i%2 == 0 {
			d *= 2
		}
		sum += d/10 + d%10
	}
	return fmt.Sprint((10 - sum%10) % 10)
}

// TestVaultShowsNothing sends cards in tokens, customers and payments, with refusals, panics and
// a rotation. Then it looks for them in everything that was written or logged.
func TestVaultShowsNothing(t *testing.T) {
	t.Parallel()
	b, spans := setupTraced(t)
	var responses bytes.Buffer
	numbers, codes := cards(8)
	b.sendCards(t, &responses, numbers, codes)
	places := b.database.Files(t, b.dir)
	b.MustRotate(t, true)
	for path, text := range b.database.Files(t, b.dir) {
		places[path+", rotated"] = text
	}
	places["the responses"], places["the log"] = responses.Bytes(), []byte(b.logs.String())
	wantNoCards(t, places, numbers, codes)
	for i := range codes {
		for column, table := range map[string]string{"number": "tokens", "sealed": "security_codes"} {
			query := "SELECT COUNT(*) FROM " + table + " WHERE CAST(" + column + " AS TEXT) IN (?, ?)"
			if got := b.number(t, query, numbers[i], codes[i]); got != 0 {
				t.Errorf("%s of %s is in the clear", column, table)
			}
		}
	}
	b.stop(t)
	wantNoCards(t, b.database.Files(t, b.dir), numbers, codes)
	wantNoCards(t, map[string][]byte{"the spans": spans.all(t)}, numbers, codes)
	b.start(t)
}

// sendCards sends each card in every kind of request, and records the responses.
func (b *bundle) sendCards(t *testing.T, responses *bytes.Buffer, numbers, codes []string) {
	t.Helper()
	send := func(path, body string, options ...option) response {
		a := b.post(t, path, body, options...)
		fmt.Fprintln(responses, a.header, string(a.body))
		return a
	}
	methods := "/v1/customers/" + b.MustCustomer(t, "{}").ID + "/payment_methods"
	strange := strangeKey(t) // one for all: it opens a whole service, which runs until the test ends
	for i, number := range numbers {
		card := `{"card":{"number":"` + number + `","exp_month":12,"exp_year":2030,"cvc":"` + codes[i] + `"}`
		for _, rest := range []string{"", "}}", `,"nonsense":"` + number + `"}`, `,"bank_account":{}}`, `,"card":{}}`} {
			send("/v1/tokens", card+rest)
		}
		send("/v1/tokens", card+"}", as(strange))
		send("/v1/tokens", `{"card":"`+number+`"}`)
		token := MustDecode[v1.Token](t, send("/v1/tokens", card+"}", keyed(fmt.Sprint(i))), 201).Value.Reveal()
		send("/v1/tokens", card+"}", keyed(fmt.Sprint(i)))
		kept := MustDecode[v1.Token](t, send("/v1/tokens", card+"}"), 201).Value.Reveal()
		m := MustDecode[v1.PaymentMethod](t, send(methods, `{"token":"`+kept+`"}`), 201).ID
		send(methods, `{"token":"`+kept+`"}`)
		send(methods, `{"token":"`+number+`"}`)
		send("/v1/transactions", paid(token, ""))
		send("/v1/transactions", paid(token, ""))
		send("/v1/transactions", paid(m, ""))
		send("/v1/transactions", paid(number, ""))
		send("/v1/transactions", paid(m, `,"customer":"`+number+`"`))
		send("/v1/customers/"+number+"/payment_methods", "{}")
		for _, path := range []string{"/v1/tokens/" + tokenID(token), "/v1/tokens/" + number, methods + "/" + m, methods + "/" + number, methods + "?fingerprint=" + number} {
			a := b.get(t, path)
			fmt.Fprintln(responses, a.header, string(a.body))
		}
		MustDecode[v1.Token](t, send("/v1/tokens", card+"}"), 201) // stays unused, with its code
	}
}

// wantNoCards looks for numbers by their middle, which no mask may show, and for codes with their
// JSON quotes.
func wantNoCards(t *testing.T, places map[string][]byte, numbers, codes []string) {
	t.Helper()
	for place, text := range places {
		for i, number := range numbers {
			for _, s := range []string{number[4:13], `"` + codes[i] + `"`, `cvc":` + codes[i]} {
				if at := bytes.Index(text, []byte(s)); at >= 0 {
					t.Errorf("%s: found %q: …%q…", place, s, text[max(0, at-60):min(len(text), at+60)])
				}
			}
		}
	}
}
