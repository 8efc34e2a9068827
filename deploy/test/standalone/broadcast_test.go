package standalone_test

import (
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	_ "modernc.org/sqlite" // registers the driver

	"github.com/causeway-pay/causeway/shared/programtest"
)

// operators is a standalone's operators' port.
type operators struct{ url, token string }

// startOperated starts a process with an operators' port.
func startOperated(t *testing.T, dir string) (*process, operators) {
	t.Helper()
	p := start(t, dir, "--admin", "127.0.0.1:0", "--log", "info")
	url := p.adminURL(t)
	token, err := os.ReadFile(filepath.Join(dir, "operator-token"))
	if err != nil {
		t.Fatal(err)
	}
	return p, operators{url, strings.TrimSpace(string(token))}
}

// post returns the status and the body of a response.
func (o operators) post(t *testing.T, path, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+o.token)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// broadcast is a broadcast in the operator's API.
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

// TestKillOverABroadcast kills the process repeatedly while it sends a rotation's event to all
// merchants. Each merchant gets each event once in each mode.
func TestKillOverABroadcast(t *testing.T) {
	t.Parallel()
	const merchants = 300
	dir := t.TempDir()
	p, port := startOperated(t, dir)
	for i := range merchants - 1 { // the development merchant exists already
		if status, text := port.post(t, "/admin/v1/merchants",
			fmt.Sprintf(`{"name":"Shop %d"}`, i)); status != http.StatusCreated {
			t.Fatalf("merchant: %d %s", status, text)
		}
	}
	cut, rounds := 0, 0
	for ; rounds < 8 || cut < 4; rounds++ { // on a busy machine a broadcast can end before the kill
		if rounds == 100 {
			t.Fatalf("cut short %d times of %d", cut, rounds)
		}
		body := fmt.Sprintf(`{"type":"certificate.rotated","name":"rot-%d","object":{"object":"certificate"}}`, rounds)
		var now broadcast
		programtest.WaitFor(t, "some merchants have the event", func() bool {
			now = port.broadcast(t, body)
			return now.Merchants > 0
		})
		if now.Status != "told" {
			cut++
		}
		p.Kill()
		p, port = startOperated(t, dir)
		programtest.WaitFor(t, "all have the event", func() bool { return port.broadcast(t, body).Status == "told" })
		if got := port.broadcast(t, body).Merchants; got != merchants {
			t.Errorf("events: got %d merchants, want %d", got, merchants)
		}
	}
	p.Stop(t)
	wantEvents(t, dir, rounds, 2*merchants)
}

// wantEvents checks the number of events of each merchant and mode.
func wantEvents(t *testing.T, dir string, each, tenants int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "core", "causeway.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it was only read
	var tenantsDone, least, most int
	err = db.QueryRowContext(t.Context(), `SELECT COUNT(*), MIN(n), MAX(n) FROM
		(SELECT COUNT(*) AS n FROM events WHERE type = 'certificate.rotated' GROUP BY merchant_id, live)`).
		Scan(&tenantsDone, &least, &most)
	if err != nil || tenantsDone != tenants || least != each || most != each {
		t.Errorf("events: got %d to %d for each of %d merchants and modes, %v; want %d for %d",
			least, most, tenantsDone, err, each, tenants)
	}
}
