package httphop_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/mle-filter/internal/httphop"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
)

// each runs a test against every form of the hop.
func each(t *testing.T, change func(*httphop.Config, *engine.Config), test func(t *testing.T, d *testHop)) {
	t.Helper()
	for name, f := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t, f, change))
		})
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, alg := range []engine.Alg{engine.RSAOAEP256, engine.ECDHESA256KW} {
		each(t, nil, func(t *testing.T, d *testHop) {
			t.Helper()
			fields := encryptedFields("Idempotency-Key", "k", "X-Svc-Int-Mle", "spoofed", "Accept-Encoding", "gzip",
				"Range", "bytes=0-1")
			if strings.HasPrefix(d.URL, "http:") { // a tunnel past the hop, and internal fields that it must remove
				fields["Connection"], fields["Upgrade"] = "upgrade, x-svc-int-mle, x-svc-int-proof", "h2c"
			}
			g := d.send(t, "POST", "/v1/transactions?a=%zz", d.encrypt(t, alg), fields)
			if text := d.decrypt(t, g); g.status != 201 || text != `{"id":"txn_1"}` || int64(len(g.body)) != g.length {
				t.Errorf("got %d %s of %d bytes", g.status, text, g.length)
			}
			if id := g.header.Values("Request-Id"); len(id) != 1 || id[0] != "req_0000000000001" ||
				g.header.Get("Cache-Control") != "no-store" {
				t.Errorf("got Request-Id %q and %v, want core's alone", id, g.header)
			}
			reached := d.core.got()
			if len(reached) != 1 || reached[0].body != sale || reached[0].target != "/v1/transactions?a=%zz" ||
				reached[0].length != int64(len(sale)) {
				t.Fatalf("core got %+v, want the plaintext once", reached)
			}
			want := "v1;kid=" + d.ours[alg].KID + ";merchant=" + enginetest.Merchant + ";response=required"
			for name, value := range map[string]string{
				"X-Svc-Int-Mle": want, "X-Svc-Int-Proof": proof, "Content-Type": "application/json", "Idempotency-Key": "k",
				"Authorization": bearer,
				"X-Svc-Mle":     "", "X-Svc-Mle-Response": "", "Accept-Encoding": "", "Range": "", "Upgrade": "",
			} {
				if got := strings.Join(reached[0].header.Values(name), "|"); got != value {
					t.Errorf("%s: got %q, want %q", name, got, value)
				}
			}
		})
	}
}

// TestClear checks that a request in the clear is forwarded unchanged, except for the fields of
// mle-filter.
func TestClear(t *testing.T) {
	t.Parallel()
	each(t, nil, func(t *testing.T, d *testHop) {
		t.Helper()
		g := d.send(t, "POST", "/v1//transactions/%2F?b=1;2", strings.NewReader(sale), map[string]string{
			"Content-Type": "application/json", "X-Svc-Int-Mle": "spoofed", "X-Svc-Int-Proof": "guessed",
			"Accept-Encoding": "br",
			"Traceparent":     "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		})
		if g.status != 201 || g.body != `{"id":"txn_1"}` || len(g.header.Values("Request-Id")) != 1 {
			t.Errorf("got %d %s %v", g.status, g.body, g.header)
		}
		reached := d.core.got()
		if len(reached) != 1 || reached[0].body != sale || reached[0].target != "/v1//transactions/%2F?b=1;2" {
			t.Fatalf("core got %+v", reached)
		}
		for name, value := range map[string]string{
			"X-Svc-Int-Mle": "", "X-Svc-Int-Proof": proof, "Accept-Encoding": "br", "Content-Type": "application/json",
			"Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		} {
			if got := strings.Join(reached[0].header.Values(name), "|"); got != value {
				t.Errorf("%s: got %q, want %q", name, got, value)
			}
		}
	})
}

func TestRefused(t *testing.T) {
	t.Parallel()
	strict := func(_ *httphop.Config, e *engine.Config) {
		table, err := policy.New(policy.Config{Routes: []policy.Route{
			{Method: "POST", Path: "/v1/tokens", MLE: policy.Required}, {Path: "/v1/off", MLE: policy.Off},
		}})
		if err != nil {
			panic(err)
		}
		e.Policy, e.MaxBody = table, 4096
	}
	each(t, strict, func(t *testing.T, d *testHop) {
		t.Helper()
		foreign := enginetest.NewKey(t, engine.ECDHESA256KW, 0)
		for name, tt := range map[string]struct {
			path, body string
			fields     map[string]string
			status     int
			code       string
		}{
			"required":   {"/v1/tokens", sale, map[string]string{"Content-Type": "application/json"}, 400, "mle_required"},
			"off":        {"/v1/off", "x", encryptedFields(), 400, "mle_not_supported"},
			"nonsense":   {"/v1/transactions", sale, encryptedFields(), 400, "mle_decrypt_failed"},
			"too large":  {"/v1/transactions", strings.Repeat("a", 4097), encryptedFields(), 413, "body_too_large"},
			"no version": {"/v1/transactions", "a", encryptedFields("X-SVC-MLE", ""), 415, "unsupported_media_type"},
			"no type": {
				"/v1/transactions", "a", encryptedFields("Content-Type", "application/json"), 415,
				"unsupported_media_type",
			},
			"packed": {
				"/v1/transactions", "a", encryptedFields("Content-Encoding", "gzip"), 415,
				"unsupported_media_type",
			},
			"no login": {"/v1/transactions", "a", encryptedFields("Authorization", "Bearer x"), 401, "invalid_api_key"},
			"unknown reply": {
				"/v1/transactions", "a", encryptedFields("X-SVC-MLE-Response-Kid", foreign.KID), 400,
				"mle_kid_unknown",
			},
			"foreign key": {
				"/v1/transactions",
				(&testHop{ours: map[engine.Alg]enginetest.Key{foreign.Alg: foreign}}).text(t, foreign.Alg), encryptedFields(), 400,
				"mle_kid_unknown",
			},
		} {
			var body io.Reader = strings.NewReader(tt.body)
			for _, chunked := range []bool{false, true} {
				if chunked {
					body = io.MultiReader(strings.NewReader(tt.body))
				}
				g := d.send(t, "POST", tt.path, body, tt.fields)
				if t.Run(name, func(t *testing.T) { wantCode(t, g, tt.status, tt.code) }); g.header.Get("Request-Id") == "" {
					t.Errorf("%s: no Request-Id", name)
				}
				if got := g.header.Get("WWW-Authenticate") == "Bearer"; got != (tt.status == 401) {
					t.Errorf("%s: WWW-Authenticate: got %q", name, g.header.Get("WWW-Authenticate"))
				}
			}
		}
		d.untouched(t)
		if d.log.Len() == 0 || strings.Contains(d.log.String(), pan) {
			t.Errorf("the log contains a card number, or is empty: %s", d.log)
		}
	})
}

func (d *testHop) text(t *testing.T, alg engine.Alg) string {
	t.Helper()
	text, err := io.ReadAll(d.encrypt(t, alg))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCoreResponses has core send responses. Some have nothing to encrypt, and some cannot be
// encrypted.
func TestCoreResponses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		method   string
		response http.HandlerFunc
		status   int
		// text is the decrypted response, code the code of a problem; "" for none.
		text, code string
	}{
		"a decline":   {"POST", say(402, "application/json", `{"error":{}}`), 402, `{"error":{}}`, ""},
		"no content":  {"DELETE", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }, 204, "", ""},
		"not changed": {"GET", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) }, 304, "", ""},
		"head": {"HEAD", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "12")
		}, 200, "", ""},
		"packed": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, "x")
		}, 500, "", "internal_error"},
		"too long": {"GET", say(200, "application/json", strings.Repeat("x", 1<<20+1)), 500, "", "internal_error"},
		"a stream": {"GET", say(200, "text/event-stream", "data: 1\n\n"), 500, "", "internal_error"},
		"cut": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			_, _ = io.WriteString(w, "x")
			panic(http.ErrAbortHandler)
		}, 502, "", "response_lost"},
		"in parts": {"GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Etag", "e")
			for range 3 {
				_, _ = io.WriteString(w, "ab")
			}
		}, 200, "ababab", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, nil, func(t *testing.T, d *testHop) {
				t.Helper()
				d.core.response = tt.response
				g := d.send(t, tt.method, "/v1/x", nil, map[string]string{"X-SVC-MLE": "v1", "X-SVC-MLE-Response": "required"})
				switch {
				case tt.code != "":
					wantCode(t, g, tt.status, tt.code)
				case tt.text == "":
					if g.status != tt.status || g.body != "" || g.header.Get("X-SVC-MLE") != "" {
						t.Errorf("got %d %q %v, want %d and no body", g.status, g.body, g.header, tt.status)
					}
				case g.status != tt.status || d.decrypt(t, g) != tt.text || g.header.Get("Etag") != "":
					t.Errorf("got %d %v", g.status, g.header)
				}
			})
		})
	}
}

func say(status int, mediaType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}
