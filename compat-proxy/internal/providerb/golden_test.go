package providerb_test

import (
	"bytes"
	"context"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

var update = flag.Bool("update", false, "write the golden files")

// today is the day of every golden case.
var today = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// scenario is testdata/<case>/case.json. Beside it lie request.json, the body if there is one, and as golden files commands.json (what
// the request was decoded to) and response.json (status and body).
type scenario struct {
	// Method and Path are the request's; POST /pts/v2/payments by default. Ids may be written as "cap:123" in all of the case and the body.
	Method string `json:"method,omitzero"`
	Path   string `json:"path,omitzero"`
	// Headers are further headers of the request. The caller's key is in Authorization by default.
	Headers map[string]string `json:"headers,omitzero"`
	// Scopes are those of the caller's key; all by default.
	Scopes []string `json:"scopes,omitzero"`
	// V1 is what v1 is asked, in order, and what it answers.
	V1 []exchange `json:"v1,omitzero"`
}

type exchange struct {
	Ask    string         `json:"ask"`
	Status int            `json:"status"`
	Answer jsontext.Value `json:"answer,omitzero"`
	// Replayed: it is the answer to an earlier request under the same Idempotency-Key.
	Replayed bool `json:"replayed,omitzero"`
}

func TestGolden(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/*/case.json")
	if err != nil || len(cases) == 0 {
		t.Fatalf("got %d cases, error %v", len(cases), err)
	}
	for _, path := range cases {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			runGolden(t, dir)
		})
	}
}

func runGolden(t *testing.T, dir string) {
	t.Helper()
	request, err := os.ReadFile(filepath.Join(dir, "request.json"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	commands, response := answerTo(t, mustScenario(t, filepath.Join(dir, "case.json")), request)
	compare(t, filepath.Join(dir, "commands.json"), commands)
	compare(t, filepath.Join(dir, "response.json"), response)
}

// answerTo sends a case's request and returns what v1 was asked to do, and the answer.
func answerTo(t *testing.T, s scenario, request []byte) (commands, response []byte) {
	t.Helper()
	script := &script{t: t, left: s.V1, scopes: s.Scopes}
	recorder := &recorder{Executor: mustExecutor(t, script)}
	handler := mustHandler(t, recorder)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, s.request(t, request))
	if left := script.remaining(); left != 0 {
		t.Errorf("v1 was not asked %d more times, as the case has it", left)
	}
	return recorder.commands(t), golden(t, w)
}

// request is the case's, with its body.
func (s scenario) request(t *testing.T, body []byte) *http.Request {
	t.Helper()
	method, path := http.MethodPost, "/pts/v2/payments"
	if s.Method != "" {
		method = s.Method
	}
	if s.Path != "" {
		path = withIDs(s.Path)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(withIDs(string(body))))
	r.Header.Set("Authorization", "Bearer "+apiKey)
	for name, value := range s.Headers {
		r.Header.Set(name, value)
	}
	return r
}

// golden is the form of an answer on disk; what every answer has in its head is checked here.
func golden(t *testing.T, w *httptest.ResponseRecorder) []byte {
	t.Helper()
	if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "application/hal+json") {
		t.Errorf("content type: got %q", got)
	}
	if w.Header().Get("V-C-Correlation-Id") == "" {
		t.Error("no correlation id")
	}
	if bytes.Contains(w.Body.Bytes(), []byte("null")) {
		t.Errorf("an answer with a null: %s", w.Body)
	}
	out, err := json.Marshal(struct {
		Status int            `json:"status"`
		Body   jsontext.Value `json:"body"`
	}{w.Code, w.Body.Bytes()}, jsontext.WithIndent("  "))
	if err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return append(out, '\n')
}

func compare(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := mustRead(t, path); !bytes.Equal(got, want) {
		t.Errorf("%s:\ngot  %s\nwant %s", path, got, want)
	}
}

// recorder keeps the commands that reach the executor.
type recorder struct {
	providerb.Executor
	seen []command.Command
}

func (r *recorder) Execute(ctx context.Context, key secret.String, commands []command.Command) []command.Result {
	r.seen = append(r.seen, commands...)
	return r.Executor.Execute(ctx, key, commands)
}

// commands is the golden form of what was seen; card numbers do not show in it.
func (r *recorder) commands(t *testing.T) []byte {
	t.Helper()
	type entry struct {
		Kind    command.Kind    `json:"kind"`
		Command command.Command `json:"command"`
	}
	entries := []entry{}
	for _, c := range r.seen {
		entries = append(entries, entry{c.Kind(), c})
	}
	out, err := json.Marshal(entries, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

// script plays v1: it answers what the case says, in order, and fails the test for anything else.
type script struct {
	t      *testing.T
	scopes []string

	mu   sync.Mutex
	left []exchange // guarded by mu
}

const fullScopes = `["payments:authorize","payments:capture","refunds:create","transactions:read","customers:write","customers:read","tokens:create","compat:use"]`

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/api_keys/current" {
		s.current(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ask := r.Method + " " + r.URL.Path
	if len(s.left) == 0 || withIDs(s.left[0].Ask) != ask {
		s.t.Errorf("v1 was asked %s, which the case does not have here", ask)
		w.WriteHeader(http.StatusTeapot)
		return
	}
	next := s.left[0]
	s.left = s.left[1:]
	if next.Replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	w.WriteHeader(next.Status)
	_, _ = w.Write(echoing(r, []byte(withIDs(string(next.Answer)))))
}

func (s *script) current(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+apiKey {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"type":"authentication_error","code":"invalid_api_key","message":"","status":401,"request_id":""}}`)
		return
	}
	scopes := fullScopes
	if s.scopes != nil {
		scopes = `["` + strings.Join(s.scopes, `","`) + `"]`
	}
	_, _ = io.WriteString(w, `{"merchant":"mer_1","mode":"test","scopes":`+scopes+`}`)
}

// echoing gives back the reference that v1 was given where a case leaves it out of the answer, which then is in no place of its own.
func echoing(r *http.Request, answer []byte) []byte {
	var asked struct {
		Reference jsontext.Value `json:"reference"`
	}
	var got, refused map[string]jsontext.Value
	body, _ := io.ReadAll(r.Body)
	if json.Unmarshal(body, &asked) != nil || asked.Reference == nil || json.Unmarshal(answer, &got) != nil {
		return answer
	}
	if json.Unmarshal(got["error"], &refused) == nil && refused["transaction"] != nil {
		refused["transaction"] = echoing(withBody(r, body), refused["transaction"])
		got["error"], _ = json.Marshal(refused)
	} else if got["error"] == nil && got["reference"] == nil {
		got["reference"] = asked.Reference
	}
	answer, _ = json.Marshal(got)
	return answer
}

func withBody(r *http.Request, body []byte) *http.Request {
	again := *r
	again.Body = io.NopCloser(bytes.NewReader(body))
	return &again
}

func (s *script) remaining() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.left)
}

var decimalID = regexp.MustCompile(`\b(txn|re|cap|cus|pm):([0-9]+)`)

// withIDs writes out the ids that a case gives as "txn:123".
func withIDs(s string) string {
	return decimalID.ReplaceAllStringFunc(s, func(m string) string {
		prefix, number, _ := strings.Cut(m, ":")
		full, err := id.Decimal(id.Prefix(prefix), number)
		if err != nil {
			return m
		}
		return full
	})
}

const apiKey = "sk_test_0123456789abcdef"

func mustExecutor(t *testing.T, v1Handler http.Handler) *command.Executor {
	t.Helper()
	server := httptest.NewServer(v1Handler)
	t.Cleanup(server.Close)
	x, err := command.New(command.Config{
		V1: server.URL, Transport: server.Client().Transport, Backoff: time.Millisecond, FollowPause: time.Millisecond,
		Clock: clock.NewFake(today),
	})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func mustHandler(tb testing.TB, x providerb.Executor) *providerb.Handler {
	tb.Helper()
	return providerb.New(providerb.Config{
		Executor: x, Verifier: auth.New(auth.Config{}), Clock: clock.NewFake(today), Currency: "usd", MaxBytes: 256 << 10,
		NewNumber: func() string { return "7345678905236789804" },
	})
}

func mustScenario(t *testing.T, path string) scenario {
	t.Helper()
	var s scenario
	if err := json.Unmarshal(mustRead(t, path), &s, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return s
}

func mustRead(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
