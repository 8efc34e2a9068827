package api_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// direct calls a handler without a network in between.
type direct struct{ handler http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	return w.Result(), nil
}

// FuzzCreateTransaction sends any bytes as the body of a create. The response keeps to the
// contract, and nothing breaks. An accepted request is one that the contract allows (the transport
// checks both). A refused one leaves no row.
func FuzzCreateTransaction(f *testing.F) {
	s := coretest.Open(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		latest := func() int64 { // ids only grow, so every new row shows
			return s.Number(t, `SELECT COALESCE(MAX(id), 0) FROM (SELECT id FROM transactions
				UNION ALL SELECT id FROM captures UNION ALL SELECT id FROM events) AS made`)
		}
		before := latest()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://core/v1/transactions", bytes.NewReader(body))
		r.Header = http.Header{"Authorization": {"Bearer " + s.Key}, "Content-Type": {"application/json"}}
		resp, err := coretest.NewContract(t, direct{s.API}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		got, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode >= 500 {
			t.Errorf("got %d %s", resp.StatusCode, got)
		}
		if resp.StatusCode != http.StatusCreated && latest() != before {
			t.Errorf("a refusal left rows: %d %s", resp.StatusCode, got)
		}
	})
}
