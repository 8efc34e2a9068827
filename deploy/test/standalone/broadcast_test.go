package standalone_test

import (
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	_ "modernc.org/sqlite" // the driver

	"github.com/causeway-pay/causeway/shared/programtest"
)

// operators is a standalone's port for operators.
type operators struct{ url, token string }

// startOperated starts a process with a port for operators, and returns that too.
func startOperated(t *testing.T, dir string) (*process, operators) {
	t.Helper()
	p := start(t, dir, "--admin", "127.0.0.1:0", "--log", "info")
	var told []string
	programtest.WaitFor(t, "the address of the operators' port is told", func() bool {
		told = regexp.MustCompile(`operators' port","listener":"admin","address":"([^"]+)"`).FindStringSubmatch(p.Log.String())
		return told != nil
	})
	token, err := os.ReadFile(filepath.Join(dir, "operator-token"))
	if err != nil {
		t.Fatal(err)
	}
	return p, operators{"http://" + told[1], strings.TrimSpace(string(token))}
}

// post returns the status and the body of an answer.
func (o operators) post(t *testing.T, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+o.token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// broadcast is what the port says of one.
type broadcast struct {
	Status    string
	Merchants int
}

func (o operators) broadcast(t *testing.T, body string) (out broadcast) {
	t.Helper()
	status, text := o.post(t, "/admin/v1/events", body)
	if status != http.StatusOK && status != http.StatusCreated {
		t.Fatalf("broadcast: %d %s", status, text)
	}
	if err := json.Unmarshal([]byte(text), &out, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestKillOverABroadcast kills the process while it tells all merchants of a rotation, again and again: each is told of each, in each mode, once.
func TestKillOverABroadcast(t *testing.T) {
	t.Parallel()
	const merchants, rounds = 300, 8
	dir := t.TempDir()
	p, port := startOperated(t, dir)
	for i := range merchants - 1 { // the development merchant is there
		if status, text := port.post(t, "/admin/v1/merchants", fmt.Sprintf(`{"name":"Shop %d"}`, i)); status != http.StatusCreated {
			t.Fatalf("merchant: %d %s", status, text)
		}
	}
	cut := 0
	for i := range rounds {
		body := fmt.Sprintf(`{"type":"certificate.rotated","name":"rot-%d","object":{"object":"certificate"}}`, i)
		var now broadcast
		programtest.WaitFor(t, "some merchants were told", func() bool { now = port.broadcast(t, body); return now.Merchants > 0 })
		if now.Status != "told" {
			cut++
		}
		p.Kill()
		p, port = startOperated(t, dir)
		programtest.WaitFor(t, "all were told", func() bool { return port.broadcast(t, body).Status == "told" })
		if got := port.broadcast(t, body).Merchants; got != merchants {
			t.Errorf("told: got %d merchants, want %d", got, merchants)
		}
	}
	p.Stop(t)
	if cut < rounds/2 {
		t.Errorf("cut short %d times of %d", cut, rounds)
	}
	wantEvents(t, dir, rounds, 2*merchants)
}

// wantEvents wants each of so many merchants and modes to have been told so often.
func wantEvents(t *testing.T, dir string, each, tenants int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "core", "causeway.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it was only read
	var told, least, most int
	err = db.QueryRowContext(t.Context(), `SELECT COUNT(*), MIN(n), MAX(n) FROM
		(SELECT COUNT(*) AS n FROM events WHERE type = 'certificate.rotated' GROUP BY merchant_id, live)`).Scan(&told, &least, &most)
	if err != nil || told != tenants || least != each || most != each {
		t.Errorf("events: got %d to %d for each of %d merchants and modes, %v; want %d for %d", least, most, told, err, each, tenants)
	}
}
