package specification_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/test/fleet"
	"github.com/causeway-pay/causeway/shared/programtest"
)

var bin string

func TestMain(m *testing.M) { programtest.Main(m, &bin, "standalone") }

// row is a statement of the specification, word for word, and the test of it.
type row struct {
	statement string
	test      func(s *service)
}

// service is a running standalone in one test.
type service struct {
	*testing.T
	fleet.Ready

	client *http.Client
}

// response is a response of the service in one test.
type response struct {
	*testing.T

	status int
	header http.Header
	body   string
}

// run tests the rows on one standalone, side by side.
func run(t *testing.T, rows []row) {
	t.Helper()
	p := programtest.Start(t, programtest.Command{
		Path: filepath.Join(bin, "standalone"), Args: fleet.StandaloneArgs(t.TempDir(), "--log", "error"),
		Stdout: &programtest.Log{},
	})
	ready, err := fleet.AwaitReady(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Timeout: programtest.Patience}
	t.Run("rows", func(t *testing.T) {
		for _, r := range rows {
			t.Run(r.statement, func(t *testing.T) {
				t.Parallel()
				r.test(&service{t, ready, client})
			})
		}
	})
}

// send sends a JSON request with an API key, unless it is empty, and pairs of further header
// fields.
func (s *service) send(method, path, key, body string, fields ...string) response {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.HTTP+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	got, err := s.client.Do(r)
	if err != nil {
		s.Fatalf("%s %s: %v", method, path, err)
	}
	text, err := io.ReadAll(got.Body)
	_ = got.Body.Close() // read to its end
	if err != nil {
		s.Fatalf("%s %s: %v", method, path, err)
	}
	return response{s.T, got.StatusCode, got.Header, strings.TrimPrefix(string(text), "\xef\xbb\xbf")}
}

// get is send without a body.
func (s *service) get(path, key string) response {
	s.Helper()
	return s.send(http.MethodGet, path, key, "")
}

// post is send with the method POST.
func (s *service) post(path, key, body string, fields ...string) response {
	s.Helper()
	return s.send(http.MethodPost, path, key, body, fields...)
}

// want checks the status and parts of the body.
func (r response) want(status int, parts ...string) response {
	r.Helper()
	if r.status != status {
		r.Errorf("got %d %s, want %d", r.status, r.body, status)
	}
	for _, part := range parts {
		if !strings.Contains(r.body, part) {
			r.Errorf("got %s, want %s in it", r.body, part)
		}
	}
	return r
}

// decode returns the body as a T.
func decode[T any](r response) (out T) {
	r.Helper()
	if err := json.Unmarshal([]byte(r.body), &out); err != nil {
		r.Fatalf("%d %s: %v", r.status, r.body, err)
	}
	return out
}

// id returns the id in the body.
func (r response) id() string {
	r.Helper()
	got := decode[struct {
		ID string `json:"id"`
	}](r)
	if got.ID == "" {
		r.Fatalf("got %d %s, want an id", r.status, r.body)
	}
	return got.ID
}

// scoped returns a new secret key with the scopes.
func (s *service) scoped(scopes string) string {
	s.Helper()
	body := `{"kind":"secret","scopes":["` + strings.ReplaceAll(scopes, ", ", `","`) + `"]}`
	return decode[struct {
		Secret string `json:"secret"`
	}](s.post("/v1/api_keys", s.Keys.SKTest, body).want(http.StatusCreated)).Secret
}
