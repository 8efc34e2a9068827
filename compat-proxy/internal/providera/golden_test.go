package providera_test

import (
	"bytes"
	"context"
	"flag"
	"io"
	"log/slog"
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
	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

var update = flag.Bool("update", false, "write the golden files")

// today is the day of every golden case.
var today = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// scenario is testdata/<case>/case.json. Beside it lie request.xml or request.json, and as golden files commands.json (what the
// request was decoded to) and response.xml or response.json.
type scenario struct {
	// Authorization is the request's header of that name.
	Authorization string `json:"authorization,omitzero"`
	// Scopes are those of the caller's key; all by default.
	Scopes []string `json:"scopes,omitzero"`
	// V1 is what v1 is asked, in order, and what it answers. Ids may be written as "txn:123".
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
	request, ext := mustRequest(t, dir)
	commands, response := answerTo(t, mustScenario(t, filepath.Join(dir, "case.json")), request)
	compare(t, filepath.Join(dir, "commands.json"), commands)
	compare(t, filepath.Join(dir, "response"+ext), response)
}

// mustRequest is a case's request with the ending of its file.
func mustRequest(t *testing.T, dir string) (request []byte, ext string) {
	t.Helper()
	request, err := os.ReadFile(filepath.Join(dir, "request.xml"))
	if err != nil {
		return mustRead(t, filepath.Join(dir, "request.json")), ".json"
	}
	return request, ".xml"
}

// answerTo sends a case's request and returns what v1 was asked to do, and the answer.
func answerTo(t *testing.T, s scenario, request []byte) (commands, response []byte) {
	t.Helper()
	script := &script{t: t, left: s.V1, scopes: s.Scopes}
	recorder := &recorder{Executor: mustExecutor(t, script)}
	handler := mustHandler(t, recorder)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/compat/provider-a/xml", bytes.NewReader(request))
	if s.Authorization != "" {
		r.Header.Set("Authorization", s.Authorization)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	if got, want := w.Code, http.StatusOK; got != want {
		t.Errorf("status: got %d, want %d", got, want)
	}
	if left := script.remaining(); left != 0 {
		t.Errorf("v1 was not asked %d more times, as the case has it", left)
	}
	return recorder.commands(t), w.Body.Bytes()
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
	providera.Executor
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

func mustHandler(tb testing.TB, x providera.Executor) *providera.Handler {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "credentials.yaml")
	yaml := "provider_a:\n  - {name: demoLogin1, transaction_key: demoKey000000001, api_key: " + apiKey + "}\n" +
		"  - {name: refunder, transaction_key: demoKey000000002, api_key: " + apiKey + ", unlinked_refunds: true}\n"
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		tb.Fatal(err)
	}
	c := clock.NewFake(today)
	logins, err := credentials.Open(path, c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return providera.New(providera.Config{Executor: x, Logins: logins, Clock: c, Currency: "usd", MaxBytes: 256 << 10})
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
