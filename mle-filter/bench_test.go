package mlefilter_test

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"testing"

	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/shared/secret"
)

// BenchmarkClear measures a request in the clear in front of an empty core in the same process.
func BenchmarkClear(b *testing.B) {
	nothing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	f, err := mlefilter.New(b.Context(), mlefilter.Config{
		Core: nothing, Keys: b.TempDir() + "/mle.db", KEK: secret.New(base64.StdEncoding.EncodeToString(make([]byte, 32))),
		Lazily: true,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := f.Close(); err != nil {
			b.Error(err)
		}
	})
	h, w := f.Handler(), httptest.NewRecorder()
	r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/v1/transactions", http.NoBody)
	r.Header.Set("Authorization", "Bearer sk_test_1")
	r.Header.Set("Content-Type", "application/json")
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, r)
	}
}
