package httpx_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/causeway-pay/causeway/shared/httpx"
)

func TestVersioned(t *testing.T) {
	t.Parallel()
	served := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	refused := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }
	h := httpx.Versioned(refused, served)
	for name, c := range map[string]struct {
		wanted []string
		status int
	}{
		"none":      {nil, 200},
		"this one":  {[]string{"2026-11-01"}, 200},
		"older":     {[]string{"2026-10-31"}, 400},
		"newer":     {[]string{"2026-11-02"}, 400},
		"empty":     {[]string{""}, 400},
		"no date":   {[]string{"v1"}, 400},
		"two lines": {[]string{"2026-11-01", "2026-11-01"}, 400},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/transactions", http.NoBody)
		r.Header["Causeway-Version"] = c.wanted
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Values("Causeway-Version"); w.Code != c.status || len(got) != 1 || got[0] != "2026-11-01" {
			t.Errorf("%s: got %d by version %q, want %d by 2026-11-01", name, w.Code, got, c.status)
		}
	}
}
