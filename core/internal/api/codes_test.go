package api_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/secretfile"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// storedCode is a security code between its arrival and its authorization, with the stored data
// that an attacker could have copied.
type storedCode struct {
	code   string
	value  secret.String      // of its token; none where the code was never stored
	sealed payment.SealedCode // as the store had it
}

// codes are the security codes of a test, and the keys with which it searches for them.
type codes struct {
	*bundle
	pk        option
	planted   []*storedCode
	guessable []guessable
}

const mastercard = `{"number":"5555555555554444","exp_month":12,"exp_year":2030,"cvc":"%s"}`

// tokenize makes a token of a card with a code, and copies the row of the token.
func (c *codes) tokenize(t *testing.T, code string, options ...option) string {
	t.Helper()
	return c.tokenizeCard(t, "5555555555554444", code, options...)
}

func (c *codes) tokenizeCard(t *testing.T, number, code string, options ...option) string {
	t.Helper()
	card := strings.Replace(mastercard, "5555555555554444", number, 1)
	made := MustDecode[v1.Token](t, c.postCode(t, "/v1/tokens", `{"card":`+card+`}`, code, options...), 201)
	c.copyCode(t, made.Value.Reveal(), code)
	return made.Value.Reveal()
}

// copyCode copies the stored row of a token's code.
func (c *codes) copyCode(t *testing.T, value, code string) {
	t.Helper()
	p, number := &storedCode{code: code, value: secret.New(value)}, numberOf(t, "tok", tokenID(value))
	p.sealed.Key.ID = c.number(t, "SELECT key_id FROM security_codes WHERE token_id = ?", number)
	if err := c.inspect.QueryRowContext(t.Context(), "SELECT sealed FROM security_codes WHERE token_id = ?", number).Scan(&p.sealed.Text); err != nil {
		t.Fatal(err)
	}
	for _, k := range c.codeKeys(t) {
		if k.ID == p.sealed.Key.ID {
			p.sealed.Key = k
		}
	}
	if len(p.sealed.Text) == 0 || len(p.sealed.Key.Sealed) == 0 {
		t.Fatalf("the code of %s was not stored", tokenID(value))
	}
	c.planted = append(c.planted, p)
}

// codeKeys reads the keys of security codes that are left.
func (c *codes) codeKeys(t *testing.T) (out []payment.CodeKey) {
	t.Helper()
	rows, err := c.inspect.QueryContext(t.Context(), "SELECT id, hour, vault_key, sealed FROM code_keys")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports it
	for rows.Next() {
		var k payment.CodeKey
		if err := rows.Scan(&k.ID, &k.Hour, &k.Vault, &k.Sealed); err != nil {
			t.Fatal(err)
		}
		out = append(out, k)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// plant sends 30 codes through every way in, each to an authorization.
func (c *codes) plant(t *testing.T) {
	t.Helper()
	customer := c.MustCustomer(t, "{}").ID
	stored := c.MustAttach(t, customer, `{"card":{"number":"5555555555554444","exp_month":12,"exp_year":2030}}`).ID
	confirmed := func(more string) {
		u := c.MustPrepare(t, manual+`,"customer":"`+customer+`"`)
		MustDecode[v1.Transaction](t, c.confirm(t, u.id, u.proven(more), c.pk), 200)
	}
	pays := func(a response) { MustDecode[v1.Transaction](t, a, 201) }
	ways := []func(code string, n int){
		func(code string, n int) {
			pays(c.postCode(t, "/v1/transactions", `{"amount":1,"currency":"usd","payment_method":"card","card":`+mastercard+`}`, code, keyed(fmt.Sprint("typed", n))))
		},
		func(code string, _ int) { pays(c.pay(t, c.tokenize(t, code), "")) },
		func(code string, n int) {
			pays(c.pay(t, c.tokenize(t, code, keyed(fmt.Sprint("token", n))), manual, keyed(fmt.Sprint("paid", n))))
		},
		func(code string, _ int) { confirmed(`,"payment_method":"` + c.tokenize(t, code, c.pk) + `"`) },
		func(code string, _ int) {
			confirmed(`,"payment_method":"card","card":` + fmt.Sprintf(mastercard, code))
		},
		func(code string, _ int) { confirmed(`,"payment_method":"` + stored + `","card_cvc":"` + code + `"`) },
		func(code string, _ int) { pays(c.pay(t, stored, `,"card_cvc":"`+code+`"`)) },
		func(code string, _ int) { // a payment method has no code, and its payment is authorized without one
			m := MustDecode[v1.PaymentMethod](t, c.attach(t, customer, c.tokenize(t, code)), 201)
			pays(c.pay(t, m.ID, ""))
		},
		func(code string, n int) {
			MustDecode[v1.Refund](t, c.postCode(t, "/v1/refunds", `{"amount":1,"currency":"usd","payment_method":"card","card":`+mastercard+`}`, code, keyed(fmt.Sprint("refund", n))), 201)
		},
		func(code string, _ int) { // the acquirer is unavailable, so the code is sealed and stored again
			value := c.tokenizeCard(t, "4000000000000101", code)
			wantRefusal(t, c.pay(t, value, ""), refusal{503, v1.ErrorTypeAPIError, "acquirer_unavailable", ""})
			c.copyCode(t, value, code)
		},
	}
	for n := range 30 {
		code, err := rand.Int(rand.Reader, big.NewInt(800)) // codes from 900 on are triggers of the simulator
		if err != nil {
			t.Fatal(err)
		}
		ways[n%len(ways)](fmt.Sprintf("%03d", code), n)
	}
}

// mustOpenVault opens a keyset as an attacker with the key-encryption key does.
func mustOpenVault(t *testing.T, keyset, kek []byte) *vault.Vault {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keyset")
	if err := os.WriteFile(path, keyset, 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := vault.Load(t.Context(), secretfile.Path(path), kek)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// wantClosed checks that no sealed code opens with any remaining key and the given values of
// tokens.
func (c *codes) wantClosed(t *testing.T, when string, v *vault.Vault, values func(p *storedCode) []secret.String) {
	t.Helper()
	tried := 0
	for _, p := range c.planted {
		number, _ := payment.TokenOfValue(p.value.Reveal())
		o := vault.Object{Tenant: payment.Tenant{Merchant: numberOf(t, "mer", c.merchant)}, ID: id.Format(id.Token, number)}
		for _, k := range c.codeKeys(t) {
			for _, value := range values(p) {
				tried++
				if got, err := v.OpenCode(o, payment.SealedCode{Key: k, Text: p.sealed.Text}, value); err == nil {
					t.Errorf("%s: the code of %s opens: %t", when, o.ID, got.Reveal() == p.code)
				}
			}
		}
	}
	t.Logf("%s: %d attempts on %d sealed codes", when, tried, len(c.planted))
}

// wantOpen proves that the attempts of wantClosed are correct: as long as the hour's key exists,
// the token's value opens its code.
func (c *codes) wantOpen(t *testing.T, v *vault.Vault) {
	t.Helper()
	for _, p := range c.planted {
		number, _ := payment.TokenOfValue(p.value.Reveal())
		o := vault.Object{Tenant: payment.Tenant{Merchant: numberOf(t, "mer", c.merchant)}, ID: id.Format(id.Token, number)}
		if got, err := v.OpenCode(o, p.sealed, p.value); err != nil || got.Reveal() != p.code {
			t.Fatalf("the value of %s does not open its code: %v", o.ID, err)
		}
	}
}

// wantGone looks for codes as JSON shows them, for sealed codes and for sealed keys, in every file
// below the folders.
func (c *codes) wantGone(t *testing.T, when string, folders map[string]string) {
	t.Helper()
	read := 0
	for name, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil //nolint:nilerr // a server removes files meanwhile
			}
			content, err := os.ReadFile(path)
			if os.IsNotExist(err) {
				return nil
			}
			read += len(content)
			for i, p := range c.planted {
				for _, text := range []string{`"cvc":"` + p.code + `"`, `cvc=` + p.code, string(end(p.sealed.Text))} {
					if bytes.Contains(content, []byte(text)) {
						t.Errorf("%s: %s: code %d is in %s", when, name, i, path)
					}
				}
				if bytes.Contains(content, end(p.sealed.Key.Sealed)) {
					t.Fatalf("%s: %s: the key of code %d is in %s", when, name, i, path)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read < 100<<10 {
		t.Fatalf("%s: only %d bytes were read", when, read)
	}
}

// end returns the last bytes of a ciphertext, which are random. Go finds at most 63 bytes fast.
func end(ciphertext []byte) []byte { return ciphertext[max(0, len(ciphertext)-48):] }

// advanceBeyondKeys advances the clock past the hours of all code keys, and waits until a started
// service has destroyed them.
func (c *codes) advanceBeyondKeys(t *testing.T) {
	t.Helper()
	if len(c.codeKeys(t)) == 0 {
		t.Fatal("there is no code key to destroy")
	}
	c.clock.Advance(payment.CodeHours * time.Hour)
	c.restart(t)
	programtest.WaitFor(t, "the code keys are destroyed", func() bool { return len(c.codeKeys(t)) == 0 && !c.hasLog(t) })
}

// hasLog reports whether the file of codes still has a write-ahead log, which core truncates after
// it deletes keys.
func (c *codes) hasLog(t *testing.T) bool {
	t.Helper()
	if !c.file {
		return false
	}
	info, err := os.Stat(filepath.Join(c.dir, "codes.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size() > 0
}

// wantLost checks that a token is refused after its code was lost while the service was stopped.
// Nothing is charged, and payments without a code succeed.
func (c *codes) wantLost(t *testing.T, lose func()) {
	t.Helper()
	customer := c.MustCustomer(t, "{}").ID
	value, bare := c.MustToken(t, visa).Value.Reveal(), c.MustToken(t, `{"card":{"number":"4242424242424242","exp_month":12,"exp_year":2030}}`).Value.Reveal()
	c.stop(t)
	lose()
	c.start(t)
	wantRefusal(t, c.pay(t, value, "", keyed("lost")), invalid("token_code_lost", "payment_method"))
	if got := MustDecode[v1.Token](t, c.get(t, "/v1/tokens/"+tokenID(value)), 200); got.Used {
		t.Error("the token was used up")
	}
	MustDecode[v1.PaymentMethod](t, c.attach(t, customer, value), 201)
	wantRefusal(t, c.pay(t, value, ""), invalid("token_used", "payment_method"))
	MustDecode[v1.Transaction](t, c.pay(t, bare, ""), 201)
	fresh := MustDecode[v1.Transaction](t, c.pay(t, c.MustToken(t, visa).Value.Reveal(), ""), 201)
	if got, want := fresh.Checks.Cvc, v1.CheckResult("match"); got != want {
		t.Errorf("cvc of a new token: got %s, want %s", got, want)
	}
}

func (c *codes) unlinkedRefunds(t *testing.T) {
	t.Helper()
	if err := c.core.Admin().SetUnlinkedRefunds(t.Context(), c.merchant, true); err != nil {
		t.Fatal(err)
	}
}

// stolen returns the ids and values that a copy of the whole store has. No value of a token is
// among them, because the store keeps only its hash.
func stolen(p *storedCode) []secret.String {
	return []secret.String{{}, secret.New(tokenID(p.value.Reveal())), secret.New(string(payment.HashTokenValue(p.value)))}
}

// everything is stolen plus the value of each token, which was intercepted.
func everything(p *storedCode) []secret.String { return append(stolen(p), p.value) }

// TestNoSecurityCodeOpensSQLite plants 30 codes, authorizes with each, and searches the data folder
// and a backup of it.
func TestNoSecurityCodeOpensSQLite(t *testing.T) {
	t.Parallel()
	c := &codes{bundle: openBundle(t, &bundle{rateLimit: -1, file: true})}
	c.pk = c.publishable(t)
	c.unlinkedRefunds(t)
	c.plant(t)
	unused := MustDecode[v1.Token](t, c.post(t, "/v1/tokens", visa), 201)
	keyset, err := os.ReadFile(filepath.Join(c.dir, "vault.keyset"))
	if err != nil {
		t.Fatal(err)
	}
	roots, err := root.Open(t.Context(), secretfile.Path(filepath.Join(c.dir, "root.secret")), c.clock)
	if err != nil {
		t.Fatal(err)
	}
	v := mustOpenVault(t, keyset, roots.Lasting(root.VaultKEK))
	c.wantOpen(t, v)
	c.wantClosed(t, "after authorization", v, stolen)
	c.wantNoGuess(t, lastingKeys(roots))
	backup := c.MustBackup(t)
	c.wantGone(t, "after authorization", map[string]string{"the backup": backup})
	c.advanceBeyondKeys(t)
	c.wantClosed(t, "after two hours", v, everything)
	c.wantGone(t, "after two hours", map[string]string{"the data folder": c.dir, "the backup": c.MustBackup(t)})
	if got := c.number(t, "SELECT COUNT(*) FROM security_codes"); got != 0 {
		t.Errorf("%d codes are left, of %s", got, unused.ID)
	}
	c.wantLost(t, func() {
		for _, name := range []string{"codes.db", "codes.db-wal", "codes.db-shm"} {
			if err := os.Remove(filepath.Join(c.dir, name)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
	})
}
