package api_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/shared/httpx"
)

const cardPayment = `{"amount":1250,"currency":"usd","payment_method":"card","card":{"number":"4111111111111111","exp_month":4,"exp_year":2031,` +
	`"cvc":"900"},"reference":"ord-1"}`

// BenchmarkPayment makes payments over HTTP, clients and service in one process, so that one
// profile shows all of it.
func BenchmarkPayment(b *testing.B) {
	for _, clients := range []int{1, 64} {
		b.Run(fmt.Sprintf("%dclients", clients), func(b *testing.B) {
			url, key := mustServe(b)
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			for c := range clients {
				wg.Go(func() {
					for i := c; i < b.N; i += clients {
						mustPay(b, url, key, i)
					}
				})
			}
			wg.Wait()
		})
	}
}

// mustServe starts a service on a fresh folder and returns the URL of its transactions, and a key.
func mustServe(b *testing.B) (url, key string) {
	b.Helper()
	c, err := core.Open(b.Context(), core.Config{Data: b.TempDir(), RateLimit: -1})
	if err != nil {
		b.Fatal(err)
	}
	merchant, err := c.Admin().CreateMerchant(b.Context(), "bench")
	if err != nil {
		b.Fatal(err)
	}
	secret, err := c.Admin().CreateKey(b.Context(), core.KeySpec{Merchant: merchant, Mode: "test", Kind: "secret"})
	if err != nil {
		b.Fatal(err)
	}
	server := httpx.NewServer(httpx.Options{Handler: c.Handler()})
	addr, err := server.Start("127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := errors.Join(server.Stop(context.WithoutCancel(b.Context())), c.Close()); err != nil {
			b.Error(err)
		}
	})
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 64
	return "http://" + addr.String() + "/v1/transactions", secret.Reveal()
}

func mustPay(b *testing.B, url, key string, n int) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, strings.NewReader(cardPayment))
	if err != nil {
		b.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", fmt.Sprintf("%08x-%d", uint32(n)*2654435761, n)) // in random order, like the keys of clients
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Error(err)
		return
	}
	_, err = io.Copy(io.Discard, w.Body)
	if closed := w.Body.Close(); err != nil || closed != nil || w.StatusCode != http.StatusCreated {
		b.Errorf("got %d, %v, %v", w.StatusCode, err, closed)
	}
}
