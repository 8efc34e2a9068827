package providerb_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/dialect"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// content is a v1 that approves everything.
type content struct{ dialect.Executor }

func (content) Bind(context.Context, secret.String, command.Binding, []string) command.Result {
	return command.Result{Outcome: command.Done}
}

func (content) Identify(context.Context, secret.String) (v1.APIKey, command.Result) {
	return v1.APIKey{Merchant: "mer_1", Scopes: []string{
		"payments:authorize", "payments:capture", "refunds:create", "transactions:read", "compat:use",
	}}, command.Result{Outcome: command.Done}
}

func (content) Execute(_ context.Context, _ secret.String, c command.Command) command.Result {
	t := v1.Transaction{
		ID: id.Format(id.Transaction, 60410000123), Status: v1.TransactionStatusAuthorized,
		Currency: "usd",
	}
	if a, ok := c.(command.Authorize); ok {
		t.Amount, t.AmountAuthorized, t.Currency = a.Body.Amount, a.Body.Amount, a.Body.Currency
	}
	return command.Result{Outcome: command.Done, Transaction: &t}
}

// The form of every number in a response, and of every amount.
var (
	numberForm = regexp.MustCompile(`^[0-9]{1,26}$`)
	stampForm  = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$`)
)

// FuzzPayment requires a response to every body, with a status of the contract. It must be JSON
// without a null, with numbers as text.
func FuzzPayment(f *testing.F) {
	requests, err := filepath.Glob("testdata/*/request.json")
	if err != nil || len(requests) == 0 {
		f.Fatalf("got %d requests, error %v", len(requests), err)
	}
	for _, path := range requests {
		f.Add(goldentest.MustRead(f, path))
	}
	h := mustHandler(f, content{})
	f.Fuzz(func(t *testing.T, body []byte) {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/pts/v2/payments", strings.NewReader(string(body)))
		r.Header.Set("Authorization", "Bearer "+goldentest.APIKey)
		h.ServeHTTP(w, r)
		if w.Code != http.StatusCreated && w.Code != http.StatusBadRequest && w.Code != http.StatusForbidden {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		checkShape(t, w.Body.Bytes())
	})
}

func checkShape(t *testing.T, body []byte) {
	t.Helper()
	var a struct {
		ID      *string          `json:"id"`
		Stamp   string           `json:"submitTimeUtc"`
		Status  string           `json:"status"`
		Details []map[string]any `json:"details"`
	}
	if err := json.Unmarshal(body, &a); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if a.Status != "" && (a.ID == nil || !numberForm.MatchString(*a.ID) || !stampForm.MatchString(a.Stamp)) {
		t.Errorf("no number or no time: %s", body)
	}
	dec := jsontext.NewDecoder(strings.NewReader(string(body)))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return
		}
		if token.Kind() == jsontext.KindNull || token.Kind() == jsontext.KindNumber {
			t.Errorf("a null or a number in %s", body)
		}
	}
}
