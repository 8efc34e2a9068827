package providerb_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/dialect"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// limited is a v1 whose key has only some scopes. It must get no call but the one for the key.
type limited struct {
	dialect.Executor

	t      *testing.T
	scopes []string
}

func (l limited) Identify(context.Context, secret.String) (v1.APIKey, command.Result) {
	return v1.APIKey{Merchant: "mer_1", Scopes: l.scopes}, command.Result{Outcome: command.Done}
}

func (l limited) Execute(_ context.Context, _ secret.String, c command.Command) command.Result {
	l.t.Errorf("v1 got %s with %v", c.Kind(), l.scopes)
	return command.Result{Outcome: command.Unavailable}
}

// Every method of the catalogue is served at its path, and executes nothing without one of its
// scopes.
func TestScopes(t *testing.T) {
	t.Parallel()
	served := 0
	for _, m := range catalogue.Methods() {
		if m.Provider != catalogue.ProviderB {
			continue
		}
		served++
		for _, lacking := range m.Scopes {
			others := slices.DeleteFunc(strings.Split(strings.Trim(goldentest.FullScopes, `[]"`), `","`),
				func(s string) bool { return s == lacking })
			h := mustHandler(t, limited{t: t, scopes: others}).At("/compat/provider-b")
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), m.HTTPMethod, strings.Replace(m.Path, "{id}", "7", 1),
				strings.NewReader(signedBody))
			r.Header.Set("Authorization", "Bearer "+goldentest.APIKey)
			h.ServeHTTP(w, r)
			if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), lacking) {
				t.Errorf("%s without %s: got %d %s, want 403 that names it", m.Name, lacking, w.Code, w.Body)
			}
		}
	}
	if served != 19 {
		t.Errorf("got %d methods, want 19", served)
	}
}
