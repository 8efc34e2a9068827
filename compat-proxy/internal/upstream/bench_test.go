package upstream_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/upstream"
)

// BenchmarkRoundTrip compares the transport with net/http's: a payment of usual size, by one client
// and by several.
func BenchmarkRoundTrip(b *testing.B) {
	body, response := bytes.Repeat([]byte("x"), 400), bytes.Repeat([]byte("y"), 900)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(response)
	}))
	defer server.Close()
	standard := http.DefaultTransport.(*http.Transport).Clone()
	standard.MaxIdleConnsPerHost = 256
	ours := upstream.New(upstream.Config{})
	for name, transport := range map[string]http.RoundTripper{"upstream": ours, "net_http": standard} {
		send := func() error {
			r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL, bytes.NewReader(body))
			if err != nil {
				return err
			}
			r.Header.Set("Idempotency-Key", "k")
			resp, err := transport.RoundTrip(r)
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, resp.Body)
			return errors.Join(err, resp.Body.Close())
		}
		b.Run(name+"/one", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := send(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/several", func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := send(); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
