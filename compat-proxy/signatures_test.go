package compatproxy_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/clock"
)

// A signature is valid for 15 minutes either way, unless its login has another age. No age may
// exceed the time for which v1 stores the signature's name.
func TestDefaultSignatureAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)
	shared := []byte("a shared secret of thirty-two by")
	file := filepath.Join(t.TempDir(), "credentials.yaml")
	login := "    api_key: " + apiKey + "\n    keys: [{id: KEY, shared_secret: " +
		base64.StdEncoding.EncodeToString(shared) + "}]\n"
	text := "provider_b:\n  - merchant_id: strict\n" + strings.Replace(login, "KEY", "strict", 1) +
		"  - merchant_id: local\n    signature_age: 11h30m\n" + strings.Replace(login, "KEY", "local", 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	upstream := goldentest.Serve(t, &v1{})
	p, err := compatproxy.New(compatproxy.Config{
		DeduplicationSecret: goldentest.Secret(), V1: upstream.URL, Credentials: file, Clock: clock.NewFake(now),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	for _, tt := range []struct {
		merchant string
		off      time.Duration
		taken    bool
	}{
		{"strict", -15 * time.Minute, true},
		{"strict", 15 * time.Minute, true},
		{"strict", -15*time.Minute - time.Second, false},
		{"strict", 15*time.Minute + time.Second, false},
		{"local", -11 * time.Hour, true},
		{"local", -12 * time.Hour, false},
	} {
		const path = "/compat/provider-b/tss/v2/transactions/1"
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		date := now.Add(tt.off).Format(http.TimeFormat)
		mac := hmac.New(sha256.New, shared)
		mac.Write([]byte("date: " + date + "\nrequest-target: get " + path + "\nv-c-merchant-id: " + tt.merchant))
		r.Header.Set("Date", date)
		r.Header.Set("V-C-Merchant-Id", tt.merchant)
		r.Header.Set("Signature", `keyid="`+tt.merchant+`", algorithm="HmacSHA256", headers="date request-target `+
			`v-c-merchant-id", signature="`+
			base64.StdEncoding.EncodeToString(mac.Sum(nil))+`"`)
		w := httptest.NewRecorder()
		p.Handler().ServeHTTP(w, r)
		if taken := w.Code != http.StatusUnauthorized; taken != tt.taken {
			t.Errorf("%s, %s off: got %d, want it taken: %t", tt.merchant, tt.off, w.Code, tt.taken)
		}
	}
}
