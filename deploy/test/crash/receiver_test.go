package crash_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/crash"
)

// The example of the Standard Webhooks' own libraries.
const (
	exampleSecret    = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	exampleID        = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	exampleAt        = "1614265330"
	exampleBody      = `{"test": 2432232314}`
	exampleSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
)

func TestReceiver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, signature, body string
		want                  int
	}{
		{"the example", exampleSignature, exampleBody, 0},
		{"the second of two", "v1,AAAA " + exampleSignature, exampleBody, 0},
		{"another body", exampleSignature, exampleBody + " ", 1},
		{"none", "", exampleBody, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url, trust, complaints := crash.OpenReceiver(t)
			trust("/a", exampleSecret)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/a", strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Webhook-Id", exampleID)
			r.Header.Set("Webhook-Timestamp", exampleAt)
			r.Header.Set("Webhook-Signature", c.signature)
			got, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = got.Body.Close() // only the record of the receiver matters
			if faults := complaints(); len(faults) != c.want {
				t.Errorf("complaints = %v, want %d", faults, c.want)
			}
		})
	}
}
