package compatproxy_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	compatproxy "github.com/causeway-pay/causeway/compat-proxy"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
)

// syncBuffer is a log that may be read while it is written.
type syncBuffer struct {
	mu  sync.Mutex
	log bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.String()
}

// checkingKeys returns a v1 that refuses a wrong API key.
func checkingKeys(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.Header.Get("Authorization"), "wrong") {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"type":"authentication_error","code":"invalid_api_key","message":"",`+
				`"status":401,"request_id":""}}`)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// TestLoginAttempts: wrong logins from an address block it, in every form of login. The right
// client is served at another address. The log has the blocked address, and the attempts are
// counted.
func TestLoginAttempts(t *testing.T) {
	t.Parallel()
	const hop = "0123456789012345678901234567890123456789abc="
	file := filepath.Join(t.TempDir(), "credentials.yaml")
	text := "provider_a: [{name: shop, transaction_key: theRightKey12345, api_key: " + apiKey + "}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	xml := func(key string) string {
		return `<authenticateTestRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"><merchantAuthentication>` +
			`<name>shop</name><transactionKey>` + key +
			`</transactionKey></merchantAuthentication></authenticateTestRequest>`
	}
	for name, try := range map[string]struct {
		path, body string
		headers    map[string]string
		refused    string
		judged     int // of 15 attempts
	}{
		"provider-a": {"/compat/provider-a/xml", xml("aWrongKey1234567"), nil, "E00007", 10},
		"provider-b": {
			"/compat/provider-b/pts/v2/payments", "{}",
			map[string]string{"Signature": `keyid="k"`, "V-C-Merchant-Id": "shop"},
			"Authentication Failed", 10,
		},
		"provider-b, by key": {
			"/compat/provider-b/pts/v2/payments", "{}",
			map[string]string{"Authorization": "Bearer sk_test_wrong"},
			"Authentication Failed", 15, // an API key is always judged
		},
		"RPC": {
			"/compat/rpc", `{"jsonrpc":"2.0","id":1,"method":"compat.provider-b.createPayment","params":{}}`,
			map[string]string{"Authorization": "Bearer sk_test_wrong"},
			"Authentication Failed", 15,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log syncBuffer
			o := mustOperate(t, checkingKeys(&v1{}), func(c *compatproxy.Config) {
				c.Hop, c.Credentials, c.Log = secret.New(hop), file, slog.New(slog.NewTextHandler(&log, nil))
			})
			from := func(address string, headers map[string]string) func(*http.Request) {
				return func(r *http.Request) {
					r.Header.Set(httpx.HopField, hop)
					r.Header.Set(httpx.ClientAddressField, address)
					for name, value := range headers {
						r.Header.Set(name, value)
					}
				}
			}
			for range 15 {
				client := from("203.0.113.7", try.headers)
				_, got := send(t, http.MethodPost, o.url+try.path, strings.NewReader(try.body), client)
				if !strings.Contains(got, try.refused) {
					t.Fatalf("got %s, want %s", got, try.refused)
				}
			}
			right := strings.NewReader(xml("theRightKey12345"))
			_, got := send(t, http.MethodPost, o.url+"/compat/provider-a/xml", right, from("198.51.100.2", nil))
			if !strings.Contains(got, "I00001") {
				t.Errorf("the client at its own address: got %s", got)
			}
			o.wantSeries(t, `causeway_compat_login_attempts_total\{outcome="accepted"\} 1`,
				fmt.Sprintf(`causeway_compat_login_attempts_total\{outcome="refused"\} %d`, try.judged),
				fmt.Sprintf(`causeway_compat_login_attempts_total\{outcome="blocked"\} %d`, 15-try.judged))
			const warning = "too many refused logins"
			got = log.String()
			if warned := strings.Contains(got, warning); warned != (try.judged < 15) ||
				!strings.Contains(got, "client_address=203.0.113.7") {
				t.Errorf("the log does not have the address:\n%s", got)
			}
		})
	}
}

// TestRefusalThatIsNoWrongLogin: a refusal of v1 that does not concern the API key is no wrong
// login. A proxy with an old filter secret gets one. The log has its code, and nothing is counted.
func TestRefusalThatIsNoWrongLogin(t *testing.T) {
	t.Parallel()
	refuse := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"error":{"type":"permission_error","code":"not_through_filter","message":"","status":403,`+
			`"request_id":""}}`)
	}
	var log syncBuffer
	o := mustOperate(t, http.HandlerFunc(refuse), func(c *compatproxy.Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	for _, try := range []struct{ path, body, want string }{
		{
			"/compat/provider-a/xml", `<authenticateTestRequest xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd"/>`, "E00001",
		},
		{"/compat/provider-b/pts/v2/payments", "{}", "SYSTEM_ERROR"},
	} {
		_, got := send(t, http.MethodPost, o.url+try.path, strings.NewReader(try.body), func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+apiKey)
		})
		if !strings.Contains(got, try.want) {
			t.Errorf("%s: got %s, want %s", try.path, got, try.want)
		}
	}
	if got := log.String(); !strings.Contains(got, "not_through_filter") {
		t.Errorf("the log has no code:\n%s", got)
	}
	o.wantSeries(t, `causeway_compat_login_attempts_total\{outcome="refused"\} 0`)
}
