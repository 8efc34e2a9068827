package api_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/core/internal/idempotency"
	"github.com/causeway-pay/causeway/core/internal/root"
	"github.com/causeway-pay/causeway/core/internal/secretfile"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// guessable is a request that an attacker has completely, except for the security code.
type guessable struct{ path, format, code string }

// postCode sends a body with the code in the position of its %s, and remembers it.
func (c *codes) postCode(t *testing.T, path, format, code string, options ...option) response {
	t.Helper()
	c.guessable = append(c.guessable, guessable{path, format, code})
	return c.post(t, path, fmt.Sprintf(format, code), options...)
}

// lastingKeys returns the keys that the service never destroys.
func lastingKeys(s *root.Ring) (out [][]byte) {
	for _, p := range root.Lastings() {
		out = append(out, s.Lasting(p))
	}
	return out
}

// wantNoGuess tries each code of three digits against all that is stored of idempotency keys, with
// every lasting key. A value that fits one code but not all codes reveals the code.
func (c *codes) wantNoGuess(t *testing.T, keys [][]byte) {
	t.Helper()
	stored := map[string]bool{}
	rows, err := c.inspect.QueryContext(t.Context(), "SELECT key, fingerprint FROM idempotency_keys")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports it
	for rows.Next() {
		var key string
		var fingerprint []byte
		if err := rows.Scan(&key, &fingerprint); err != nil {
			t.Fatal(err)
		}
		stored[key], stored[string(fingerprint)] = true, true
	}
	if err := rows.Err(); err != nil || len(stored) < 7 || len(c.guessable) < 7 {
		t.Fatalf("%d values stored for %d requests: %v", len(stored), len(c.guessable), err)
	}
	for _, g := range c.guessable {
		if fits := g.fits(t, stored, keys); len(fits) > 0 {
			t.Errorf("%s: a stored value fits %v of 1,000 codes; it was made of %s", g.path, fits, g.code)
		}
	}
}

// fits returns the codes for which a keyed hash of the request is stored.
func (g guessable) fits(t *testing.T, stored map[string]bool, keys [][]byte) (out []int) {
	t.Helper()
	for guess := range 1000 {
		body := jsontext.Value(fmt.Sprintf(g.format, fmt.Sprintf("%03d", guess)))
		if err := body.Canonicalize(); err != nil {
			t.Fatal(err)
		}
		hashed := []byte("POST\x00" + g.path + "\x00" + string(body) + "\x00")
		for _, key := range keys {
			mac := hmac.New(sha256.New, key)
			mac.Write(hashed)
			if sum := mac.Sum(nil); stored[string(sum)] || stored[string(append(sum, 1))] {
				out = append(out, guess)
			}
		}
	}
	return out
}

// TestRetryWithAnotherSecurityCode repeats requests with the same key and body but another code.
// Each gets the first response, because no stored value depends on the code.
func TestRetryWithAnotherSecurityCode(t *testing.T) {
	t.Parallel()
	c := &codes{bundle: openBundle(t, &bundle{rateLimit: -1, file: true})}
	c.pk = c.publishable(t)
	c.unlinkedRefunds(t)
	customer := c.MustCustomer(t, "{}").ID
	stored := c.MustAttach(t, customer, `{"card":{"number":"5555555555554444","exp_month":12,"exp_year":2030}}`).ID
	waiting := func() (string, string) {
		u := c.MustPrepare(t, manual+`,"customer":"`+customer+`"`)
		return "/v1/transactions/" + u.id + "/confirm", u.proven(`,"payment_method":"`)
	}
	typedPath, typed := waiting()
	namedPath, named := waiting()
	const payment = `{"amount":1,"currency":"usd","payment_method":"`
	for i, r := range []struct {
		path, format string
		status       int
		options      []option
	}{
		{"/v1/tokens", `{"card":` + mastercard + `}`, 201, nil},
		{"/v1/tokens", `{"card":` + mastercard + `}`, 201, []option{c.pk}},
		{"/v1/transactions", payment + `card","card":` + mastercard + `}`, 201, nil},
		{"/v1/transactions", payment + stored + `","card_cvc":"%s"}`, 201, nil},
		{"/v1/refunds", payment + `card","card":` + mastercard + `}`, 201, nil},
		{typedPath, strings.TrimSuffix(typed, "}") + `card","card":` + mastercard + `}`, 200, []option{c.pk}},
		{namedPath, strings.TrimSuffix(named, "}") + stored + `","card_cvc":"%s"}`, 200, []option{c.pk}},
	} {
		key := fmt.Sprint("retry", i)
		first := c.postCode(t, r.path, r.format, "123", append(r.options, keyed(key))...)
		if first.status != r.status {
			t.Fatalf("%s: got %d %s, want %d", r.path, first.status, first.body, r.status)
		}
		wantReplay(t, c.post(t, r.path, fmt.Sprintf(r.format, "321"), append(r.options, keyed(key))...), first)
		another := strings.Replace(strings.Replace(r.format, "5555555555554444", "4242424242424242", 1), `"amount":1`, `"amount":2`, 1)
		if another != r.format {
			wantKeyReused(t, c.post(t, r.path, fmt.Sprintf(another, "123"), append(r.options, keyed(key))...))
		}
	}
	roots, err := root.Open(t.Context(), secretfile.Path(filepath.Join(c.dir, "root.secret")), c.clock)
	if err != nil {
		t.Fatal(err)
	}
	c.wantNoGuess(t, lastingKeys(roots))
}

// TestFingerprintsOfTheContract checks for each security code in a request body of the contract
// that it does not affect the fingerprint.
func TestFingerprintsOfTheContract(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(v1.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody == nil {
				continue
			}
			for _, at := range codePaths(op.RequestBody.Value.Content.Get("application/json").Schema.Value) {
				found++
				of := func(code string) string {
					return string(idempotency.Fingerprint([]byte("pepper"), method, path, bodyWith(t, at, code)))
				}
				if of("123") != of("321") {
					t.Errorf("%s %s: the fingerprint depends on %v", method, path, at)
				}
			}
		}
	}
	if found < 6 {
		t.Errorf("the contract has %d security codes in request bodies, want at least 6", found)
	}
}

// codePaths returns the paths of the security codes in a schema.
func codePaths(s *openapi3.Schema) (out [][]string) {
	for _, part := range s.AllOf {
		out = append(out, codePaths(part.Value)...)
	}
	for name, property := range s.Properties {
		if strings.Contains(name, "cvc") || strings.Contains(name, "cvv") || strings.Contains(name, "code") && strings.Contains(name, "security") {
			out = append(out, []string{name})
		}
		for _, rest := range codePaths(property.Value) {
			out = append(out, append([]string{name}, rest...))
		}
	}
	return out
}

func bodyWith(t *testing.T, path []string, code string) []byte {
	t.Helper()
	var value any = code
	for i := len(path) - 1; i >= 0; i-- {
		value = map[string]any{path[i]: value, "other": 1}
	}
	out, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
