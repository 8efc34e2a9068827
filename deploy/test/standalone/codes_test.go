package standalone_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	bytesof "encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/deploy/test/sdk"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/telemetry/telemetrytest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

// planter sends security codes by every way into the service, and records the facts that an
// attacker could have.
type planter struct {
	*process

	dir     string // of its data
	m       *merchant
	http    *http.Client
	at      time.Time // the time of all signatures
	private *merchant // encrypts requests and responses
	profile string    // a stored card

	codes     []string
	bodies    []string // as sent
	responses []string
	guesses   []guess
	controls  []guess // of requests without a code
}

// guess is a value that an attacker can compute for each security code, and search in the store.
type guess struct {
	way string
	of  func(code string) string
}

// sent records a request with its response. The words in the response must show that it was
// accepted.
func (s *planter) sent(t *testing.T, way, body, response string, words ...string) {
	t.Helper()
	s.bodies, s.responses = append(s.bodies, body), append(s.responses, response)
	for _, word := range words {
		if !strings.Contains(response, word) {
			t.Fatalf("%s: got %s, want %s in it", way, response, word)
		}
	}
}

const (
	approvedXML  = "<responseCode>1</responseCode>"
	approvedJSON = `"responseCode":"1"`
	approvedREST = `"AUTHORIZED"`
	captured     = `"captured"`
	plantedCode  = `"cardCode":"%s"`
)

// restCode returns a payment of provider-b with a code.
func restCode(code string, n int) string {
	payment := restPayment(fmt.Sprintf("%d.00", 10+n), "USD", true, "")
	return strings.Replace(payment, `"expirationMonth"`, `"securityCode":"`+code+`","expirationMonth"`, 1)
}

// xml returns a payment of provider-a with a code.
func (s *planter) xml(amount, code string) string {
	return strings.Replace(saleXML(s.process, amount), "</creditCard>", "<cardCode>"+code+"</cardCode></creditCard>", 1)
}

// v1Code returns a payment of v1 with a code.
func v1Code(code string, n int) string {
	return fmt.Sprintf(`{"amount":%d,"currency":"usd","payment_method":"card","card":{"number":"4111111111111111",`+
		`"exp_month":4,"exp_year":2031,"cvc":"%s"}}`, 1000+n, code)
}

// way sends the nth code.
type way func(t *testing.T, code string, n int)

// ways returns all ways in.
func (s *planter) ways() []way {
	return slices.Concat(s.waysOfProviderA(), s.waysOfProviderB(), s.waysOfMLE(), []way{s.refused})
}

func (s *planter) waysOfProviderA() []way {
	return []way{
		func(t *testing.T, code string, n int) {
			t.Helper()
			body := s.xml(fmt.Sprintf("%d.00", 100+n), code)
			s.sent(t, "XML", body, postLegacy(t, s.m, s.process, body), approvedXML)
		},
		func(t *testing.T, code string, n int) {
			t.Helper()
			members := txnOf(fmt.Sprintf(`"authCaptureTransaction","amount":"%d.00",`, 200+n) + withCode(legacyCard, code))
			s.sent(t, "JSON", members, mustAsk(t, s.process, s.Keys.SKTest, transact, members).body, approvedJSON)
		},
		func(t *testing.T, code string, n int) {
			t.Helper()
			members := fmt.Sprintf(`"profile":{"email":"ana%d@example.org","paymentProfiles":{`+
				`"billTo":{"firstName":"Ana","address":"1 Elm St","zip":"98004"},%s}},"validationMode":"liveMode"`,
				n, withCode(legacyCard, code))
			got := mustAsk(t, s.process, s.Keys.SKTest, "createCustomerProfileRequest", members).body
			s.sent(t, "profile", members, got, `"customerProfileId"`, "I00001")
		},
		func(t *testing.T, code string, n int) {
			t.Helper()
			members := txnOf(fmt.Sprintf(`"authCaptureTransaction","amount":"%d.00",`, 300+n) +
				strings.TrimSuffix(s.profile, "}}") + "," + fmt.Sprintf(plantedCode, code) + "}}")
			s.sent(t, "stored profile", members, mustAsk(t, s.process, s.Keys.SKTest, transact, members).body, approvedJSON)
		},
	}
}

func (s *planter) waysOfProviderB() []way {
	return []way{
		func(t *testing.T, code string, n int) {
			t.Helper()
			body := restCode(code, n)
			s.sent(t, "signature", body, s.signed(t, s.http, s.HTTP, restPayments, body, s.at), approvedREST)
			s.guesses = append(s.guesses, s.signedGuesses(t, func(code string) string { return restCode(code, n) })...)
		},
		func(t *testing.T, code string, n int) {
			t.Helper()
			b := signedOf(s.process)
			b.body = restCode(code, n)
			b.bear(t, map[bool]string{true: "", false: fmt.Sprint("nonce", n)}[n%2 == 0], time.Minute)
			_, got := b.send(t, s.m)
			s.sent(t, "token", b.body, got, approvedREST)
		},
		func(t *testing.T, code string, n int) {
			t.Helper()
			body := called("createPayment", "", restCode(code, n))
			s.sent(t, "RPC", body, s.signed(t, s.http, s.HTTP, "/compat/rpc", body, s.at), approvedREST)
		},
	}
}

func (s *planter) waysOfMLE() []way {
	return []way{
		func(t *testing.T, code string, n int) {
			t.Helper()
			key := fmt.Sprint("mle", n)
			body := func(code string) string { return v1Code(code, n) }
			got := s.private.must(t, http.MethodPost, "/v1/transactions", key, body(code)).body
			s.sent(t, "MLE", body(code), got, captured)
			s.guesses = append(s.guesses, s.v1Guesses(t, "/v1/transactions", body)...)
		},
		func(t *testing.T, code string, n int) {
			t.Helper()
			card := func(code string) string {
				return `{"card":{"number":"4111111111111111","exp_month":4,"exp_year":2031,"cvc":"` + code + `"}}`
			}
			got := s.private.must(t, http.MethodPost, "/v1/tokens", fmt.Sprint("token", n), card(code)).body
			s.sent(t, "MLE token", card(code), got, `"value"`)
			s.guesses = append(s.guesses, s.v1Guesses(t, "/v1/tokens", card)...)
			value := mustDecode[v1.Token](t, response{body: got}).Value.Reveal()
			pays := fmt.Sprintf(`{"amount":%d,"currency":"usd","payment_method":%q}`, 2000+n, value)
			s.sent(t, "MLE token", pays, s.private.must(t, http.MethodPost, "/v1/transactions", "", pays).body, captured)
		},
	}
}

// refused sends requests that are refused at each stage.
func (s *planter) refused(t *testing.T, code string, n int) {
	t.Helper()
	body := v1Code(code, n)
	for i, broken := range []string{
		body[:len(body)-1], strings.Replace(body, "{", `{"cvv":"`+code+`",`, 1), strings.Replace(body, "usd", "xxx", 1),
	} {
		for _, m := range []*merchant{s.m, s.private} {
			got := m.must(t, http.MethodPost, "/v1/transactions", fmt.Sprint("refused", n, i), broken).body
			s.sent(t, "refused", broken, got, `"error"`)
		}
	}
	xml := s.xml("5.00", code)
	for _, broken := range []string{
		xml[:len(xml)-30], strings.Replace(xml, "cardNumber>", "pan>", 2),
		strings.Replace(xml, s.ProviderA.TransactionKey, "wrong", 1),
	} {
		s.sent(t, "refused", broken, postLegacy(t, s.m, s.process, broken), "Error")
	}
	rest := restCode(code, n)
	for _, broken := range []string{rest[:len(rest)-1], strings.Replace(rest, `"USD"`, `"XXX"`, 1)} {
		s.sent(t, "refused", broken, s.signed(t, s.http, s.HTTP, restPayments, broken, s.at), "INVALID")
	}
}

func withCode(card, code string) string {
	return strings.Replace(card, `"2031-04"`, `"2031-04",`+fmt.Sprintf(plantedCode, code), 1)
}

// signedGuesses compute the name under which v1 stores a signed request, under each permanent key.
// It would depend on a hash of the whole body: the signed digest, or the hash that replaces it.
func (s *planter) signedGuesses(t *testing.T, body func(code string) string) (out []guess) {
	t.Helper()
	tenant := mustDecode[v1.APIKey](t, s.m.must(t, http.MethodGet, "/v1/api_keys/current", "", ""))
	secret := deduplicationSecret(t, s.dir)
	login := base64.RawURLEncoding.EncodeToString(hmac256(t, s.ProviderB.SharedSecret, "evidence"))
	name := func(digest string) string {
		content := "host: apitest.cybersource.com\ndate: " + s.at.UTC().Format(http.TimeFormat) +
			"\nrequest-target: post " + restPayments + "\ndigest: " + digest + "\nv-c-merchant-id: " + s.ProviderB.MerchantID
		var text []byte
		for _, part := range []string{
			"name", tenant.Merchant, string(tenant.Mode), "payment.authorize",
			"evidence/" + s.ProviderB.MerchantID + "/" + login + "\n" + content,
		} {
			text = append(bytesof.BigEndian.AppendUint64(text, uint64(len(part))), part...)
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(text)
		return "named-" + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	for _, lasting := range s.lastingKeys(t) {
		for _, digest := range []func(body string) string{
			func(body string) string { return "SHA-256=" + base64SHA256(body) },
			func(body string) string { sum := sha256.Sum256([]byte(body)); return string(sum[:]) },
		} {
			out = append(out, guess{"signature", func(code string) string {
				mac := hmac.New(sha256.New, lasting) // core stores no key in the form in which it was sent
				mac.Write([]byte("\x01" + name(digest(body(code)))))
				return hex.EncodeToString(mac.Sum(nil)[:16])
			}})
		}
	}
	return out
}

// lastingKeys returns the permanent keys of core.
func (s *planter) lastingKeys(t *testing.T) map[string][]byte {
	t.Helper()
	var root struct {
		Lasting map[string][]byte `json:"lasting"`
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "core", "root.secret"))
	if err != nil || json.Unmarshal(text, &root) != nil || len(root.Lasting) == 0 {
		t.Fatalf("the root secret cannot be read: %v", err)
	}
	return root.Lasting
}

// control sends requests without a code. Their stored values must fit the guesses, which proves
// that the guesses have the form of stored values.
func (s *planter) control(t *testing.T) {
	t.Helper()
	const path, plain = "/v1/transactions", `{"amount":900,"currency":"usd","payment_method":"card"}`
	if got := s.private.must(t, http.MethodPost, path, "control", plain); got.status != http.StatusCreated {
		t.Fatalf("control: got %d %s", got.status, got.body)
	}
	signed := restPayment("9.00", "USD", true, "")
	if got := s.signed(t, s.http, s.HTTP, restPayments, signed, s.at); !strings.Contains(got, approvedREST) {
		t.Fatalf("control: got %s", got)
	}
	s.controls = append(s.v1Guesses(t, path, func(string) string { return plain }),
		s.signedGuesses(t, func(string) string { return signed })...)
}

// v1Guesses compute the fingerprint of a request to v1 under each permanent key, if it depends on
// the whole body.
func (s *planter) v1Guesses(t *testing.T, path string, body func(code string) string) (out []guess) {
	t.Helper()
	for _, key := range s.lastingKeys(t) {
		for _, mark := range []string{"", "\x01"} {
			out = append(out, guess{"MLE", func(code string) string {
				canonical := jsontext.Value(body(code))
				if err := canonical.Canonicalize(); err != nil {
					t.Fatal(err)
				}
				mac := hmac.New(sha256.New, key)
				mac.Write([]byte("POST\x00" + path + "\x00" + string(canonical) + "\x00"))
				return string(mac.Sum(nil)) + mark
			}})
		}
	}
	return out
}

// wantNoGuess tries 1,000 codes against all stored values of Idempotency-Keys.
func (s *planter) wantNoGuess(t *testing.T) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(s.dir, "core", "causeway.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // only read
	rows, err := db.QueryContext(t.Context(), "SELECT key, fingerprint FROM idempotency_keys")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err is checked
	stored := map[string]bool{}
	for rows.Next() {
		var key, fingerprint string
		if err := rows.Scan(&key, &fingerprint); err != nil {
			t.Fatal(err)
		}
		stored[key], stored[fingerprint] = true, true
	}
	if err := rows.Err(); err != nil || len(stored) < len(s.codes) {
		t.Fatalf("%d values are stored for %d codes: %v", len(stored), len(s.codes), err)
	}
	s.wantControls(t, stored)
	for _, g := range s.guesses {
		var fits []int
		for code := range 1000 {
			if stored[g.of(fmt.Sprintf("%03d", code))] {
				fits = append(fits, code)
			}
		}
		if len(fits) > 0 {
			t.Errorf("%s: a stored value fits %v of 1,000 codes", g.way, fits)
		}
	}
	t.Logf("%d guesses of 1,000 codes against %d values", len(s.guesses), len(stored))
	var left int
	err = db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM transactions").Scan(&left)
	if err != nil || left < len(s.codes)/2 {
		t.Errorf("%d transactions for %d codes: %v", left, len(s.codes), err)
	}
}

// wantControls checks that a control of each way fits a stored value.
func (s *planter) wantControls(t *testing.T, stored map[string]bool) {
	t.Helper()
	fits := map[string]bool{}
	for _, g := range s.controls {
		fits[g.way] = fits[g.way] || stored[g.of("")]
	}
	if !fits["MLE"] || !fits["signature"] {
		t.Errorf("controls that fit a stored value: %v, want both", fits)
	}
}

// wantAbsent checks that a text has no code after a name of one, and no digest of a body with a
// code.
func (s *planter) wantAbsent(t *testing.T, where, text string) {
	t.Helper()
	const name = `(?i)(cvc|cvv|card_?code|security_?code)[^0-9a-z]{1,12}(`
	if at := regexp.MustCompile(name + strings.Join(s.codes, "|") + `)[^0-9a-z]`).FindStringIndex(text); at != nil {
		t.Errorf("%s holds a code: %q", where, text[max(0, at[0]-80):at[1]])
	}
	for _, body := range s.bodies {
		sum := sha256.Sum256([]byte(body))
		encoded := base64.StdEncoding.EncodeToString(sum[:])
		for _, digest := range []string{string(sum[:]), hex.EncodeToString(sum[:]), encoded} {
			if strings.Contains(text, digest) {
				t.Errorf("%s holds the digest of a body", where)
			}
		}
	}
}

// TestNoSecurityCodeIsLeft sends 30 codes by every way into the service: in both dialects,
// encrypted, and in requests that are refused. After the authorization no file, log, trace or
// response contains one, and no stored value confirms a guess of one.
func TestNoSecurityCodeIsLeft(t *testing.T) {
	t.Parallel()
	to, dir := telemetrytest.New(t), t.TempDir()
	env := []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + to.URL, "OTEL_BSP_SCHEDULE_DELAY=1"}
	p := startWith(t, env, dir, "--log", "info")
	s := &planter{process: p, dir: dir, m: merchantOf(t, p), http: patientClient(t), at: clock.System().Now()}
	sdk.WaitForKeys(t, system(t, p))
	own := sdk.RegisterKey(t, system(t, p))
	encrypted := &http.Client{Transport: mle.New(mle.Config{Private: own}), Timeout: patience}
	s.private = &merchant{base: p.HTTP, key: p.Keys.SKTest, http: encrypted}
	s.profile = s.makeProfile(t)
	s.control(t)
	ways := s.ways()
	for n := 0; n < 30; {
		for _, plant := range ways {
			code := fmt.Sprintf("%03d", 101+7*n)
			s.codes = append(s.codes, code)
			plant(t, code, n)
			n++
		}
	}
	programtest.WaitFor(t, "the spans have come", func() bool {
		return len(to.Named("POST /compat/provider-a/xml")) > 0 && len(to.Named("acquirer authorize")) > len(s.codes)/2
	})
	p.Kill() // the write-ahead log stays
	s.wantNoGuess(t)
	s.wantAbsent(t, "the log", p.Log.String())
	s.wantAbsent(t, "the spans", string(to.Bytes()))
	s.wantAbsent(t, "a response", strings.Join(s.responses, "\n"))
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		s.wantAbsent(t, entry.Name(), string(data))
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files were searched: %v", files, err)
	}
}

// makeProfile stores a card, and returns the member of a request that charges it.
func (s *planter) makeProfile(t *testing.T) string {
	t.Helper()
	made := mustAsk(t, s.process, s.Keys.SKTest, "createCustomerProfileRequest",
		`"profile":{"email":"stored@example.org","paymentProfiles":{`+legacyCard+`}}`)
	var ids struct {
		Customer string   `json:"customerProfileId"`
		Methods  []string `json:"customerPaymentProfileIdList"`
	}
	document := []byte(strings.TrimPrefix(made.body, "\xef\xbb\xbf"))
	if err := json.Unmarshal(document, &ids); err != nil || len(ids.Methods) != 1 {
		t.Fatalf("got %s, error %v", made.body, err)
	}
	return `"profile":{"customerProfileId":"` + ids.Customer +
		`","paymentProfile":{"paymentProfileId":"` + ids.Methods[0] + `"}}`
}
