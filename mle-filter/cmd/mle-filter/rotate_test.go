package main

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/v1/mle"
)

// TestRotateWhileServing rotates by the command while clients pay, with either algorithm. No
// request fails.
func TestRotateWhileServing(t *testing.T) {
	t.Parallel()
	for _, alg := range []string{mle.ECDHESA256KW, mle.RSAOAEP256} {
		t.Run(alg, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			public, _, stop := run(t, &Main{Stderr: io.Discard, Config: Config{
				Listen: "127.0.0.1:0", Admin: "127.0.0.1:0", V1: service(t).URL, Keys: config.Literal(secret.New(o.keys)),
				KEK: kek, RSABits: 2048, SpareKeys: 1,
				Limits: mlefilter.Limits{Queue: time.Minute}, // enough on a busy machine
			}})
			defer stop()
			if err := o.ring.Fill(t.Context()); err != nil {
				t.Fatal(err)
			}
			var begun, payers sync.WaitGroup
			over := make(chan struct{})
			for range 6 {
				client := &http.Client{Transport: mle.New(mle.Config{Alg: alg})}
				begun.Add(1)
				payers.Go(func() {
					for first := true; ; first = false {
						wantPaid(t, client, public)
						if first {
							begun.Done()
						}
						select {
						case <-over:
							return
						default:
						}
					}
				})
			}
			begun.Wait()
			for range 3 {
				rotate := append([]string{"keys", "rotate", "--merchant", shop, "--alg", alg}, o.common...)
				if got := must(t, "", rotate...); !strings.Contains(got, "previous ") {
					t.Errorf("got %s", got)
				}
			}
			close(over)
			payers.Wait()
		})
	}
}

// wantPaid sends an encrypted payment and requires its response.
func wantPaid(t *testing.T, client *http.Client, public string) {
	t.Helper()
	const body = `{"amount":1}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, public+"/v1/transactions", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer sk_test_1")
	r.Header.Set("Content-Type", "application/json")
	response, err := client.Do(r)
	if err != nil {
		t.Error(err)
		return
	}
	text, err := io.ReadAll(response.Body)
	if err != nil || response.Body.Close() != nil || response.StatusCode != http.StatusOK || string(text) != body {
		t.Errorf("got %d %s, %v", response.StatusCode, text, err)
	}
}
