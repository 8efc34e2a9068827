package postgres_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/postgres"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// open opens a core in this process.
func open(t *testing.T, store string) *node {
	t.Helper()
	database, err := postgres.Database(secret.New(store))
	if err != nil {
		t.Fatal(err)
	}
	return openOn(t, database)
}

// mustOpen opens a core on a database. It is closed when the test ends.
func mustOpen(t *testing.T, database core.Database, journal string) (c *core.Core) {
	t.Helper()
	programtest.WaitFor(t, "it opens", func() bool { // a busy server may respond later than a core waits
		var err error
		if c, err = core.Open(t.Context(), core.Config{
			Database: database, VaultKEK: secret.New("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="), RateLimit: -1,
			SimulatorJournal: journal,
		}); err != nil {
			t.Log(err)
		}
		return err == nil
	})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func openOn(t *testing.T, database core.Database) *node {
	t.Helper()
	journal := filepath.Join(t.TempDir(), "simulator.journal")
	c := mustOpen(t, database, journal)
	server := httptest.NewServer(c.Handler())
	t.Cleanup(server.Close)
	var key secret.String
	programtest.WaitFor(t, "it has a merchant with a key", func() bool {
		merchant, err := c.Admin().CreateMerchant(t.Context(), "Shop")
		if err == nil {
			key, err = c.Admin().CreateKey(t.Context(), core.KeySpec{Merchant: merchant, Mode: "test", Kind: "secret"})
		}
		if err != nil {
			t.Log(err)
		}
		return err == nil
	})
	return &node{cluster: &cluster{key: key.Reveal(), journal: journal}, url: server.URL}
}

// routes are requests that need the store, one of each kind; %s is a transaction.
var routes = []string{
	"POST /v1/transactions " + `{"amount":100,"currency":"usd","payment_method":"card"}`,
	"GET /v1/transactions", "GET /v1/transactions/%s",
	"POST /v1/transactions/%s/captures {}", "POST /v1/transactions/%s/void",
	`POST /v1/refunds {"transaction":"%s"}`, "GET /v1/refunds",
	"POST /v1/customers {}", "GET /v1/customers", "POST /v1/tokens " + visa,
	"GET /v1/events", "GET /v1/webhook_endpoints",
	`POST /v1/webhook_endpoints {"url":"https://example.com/","enabled_events":["*"]}`,
	"GET /v1/api_keys", "GET /v1/idempotency_keys/k", "POST /v1/test_helpers/settlement_runs",
	"POST /v1/transactions/%s/confirm {}", "GET /v1/transactions/%s/captures",
}

// TestStoreDownPostgreSQL: while the server is paused or stopped, every request that needs it is
// 503 and health is 503. The number of waiting goroutines is bounded. Payments are accepted again
// after the server is back. The test is not parallel: it counts the goroutines of the process.
func TestStoreDownPostgreSQL(t *testing.T) {
	server := pgtest.Own(t)
	n := open(t, server.URL(nil))
	txn := n.until(t, 201, "POST", "/v1/transactions", payment(1000, "card", `,"capture":"manual"`), "k")["id"].(string)
	for state, c := range map[string]struct{ down, up func() }{
		"paused":  {server.Pause, server.Resume},
		"stopped": {func() { server.Halt(t) }, func() { server.Again(t) }},
	} {
		before := runtime.NumGoroutine()
		c.down()
		var sending sync.WaitGroup
		for _, route := range routes {
			sending.Go(func() { n.wantUnavailable(t, state, strings.ReplaceAll(route, "%s", txn)) })
		}
		sending.Wait()
		begun := time.Now() //nolint:forbidigo // the test measures the time
		a, err := n.send(t.Context(), "GET", "/v1/health", "", "")
		if err != nil || a.status != 503 || time.Since(begun) > promptly {
			t.Errorf("%s: health: got %d, %v after %s", state, a.status, err, time.Since(begun))
		}
		most, responses := n.storm(t, 200, 4*time.Second)
		t.Logf("%s: %d goroutines before, at most %d under 200 clients; responses %v", state, before, most, responses)
		if most > before+200*8+400 {
			t.Errorf("%s: too many goroutines: %d before, %d under 200 clients", state, before, most)
		}
		c.up()
		programtest.WaitFor(t, "payments are accepted again", func() bool {
			a, err := n.send(t.Context(), "POST", "/v1/transactions", payment(100, "card", ""), "")
			return err == nil && a.status == 201
		})
		programtest.WaitFor(t, "health is 200", n.healthy(t))
		programtest.WaitFor(t, "the goroutines are gone", func() bool { return runtime.NumGoroutine() < before+250 })
	}
}

// promptly bounds the time to the 503. Two seconds are documented, and the log shows the time. A
// defect waits for the server, which returns only after the responses. The rest is for a machine
// that is busy with other tests.
const promptly = 2 * time.Minute

// wantUnavailable sends a request, given as METHOD, path and perhaps a body, and wants 503
// store_unavailable.
func (n *node) wantUnavailable(t *testing.T, state, route string) {
	t.Helper()
	words := strings.SplitN(route+"  ", " ", 3)
	begun := time.Now() //nolint:forbidigo // as above
	a, err := n.send(t.Context(), words[0], words[1], strings.TrimSpace(words[2]), "")
	took := time.Since(begun)
	if err != nil {
		t.Errorf("%s: %s: %v", state, route, err)
		return
	}
	t.Logf("%s: %s: response after %s", state, route, took.Round(time.Millisecond))
	code := ""
	if e, ok := a.body["error"].(map[string]any); ok {
		code = fmt.Sprint(e["code"])
	}
	if a.status != 503 || code != "store_unavailable" || a.header.Get("Retry-After") == "" || took > promptly {
		t.Errorf("%s: %s: got %d %s after %s, header %v", state, route, a.status, code, took, a.header)
	}
}

// storm lets clients pay without a pause for some time. It returns the largest number of
// goroutines, and the number of responses by status.
func (n *node) storm(t *testing.T, clients int, during time.Duration) (most int, responses map[int]int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	responses = map[int]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				a, err := n.send(ctx, "POST", "/v1/transactions", payment(100, "card", ""), "")
				if err != nil {
					continue // the time is over
				}
				mu.Lock()
				responses[a.status]++
				mu.Unlock()
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			http.DefaultTransport.(*http.Transport).CloseIdleConnections()
			return most, responses
		case <-tick.C:
			most = max(most, runtime.NumGoroutine())
		}
	}
}

// TestReadOnlyStorePostgreSQL: requests to a server that refuses writes are 503 store_unavailable.
// Payments are accepted again after it accepts writes.
func TestReadOnlyStorePostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	n := open(t, server.URL(nil))
	db := inspect(t, server.URL(nil))
	set := func(readOnly string) {
		t.Helper()
		mustExec(t, db, "ALTER SYSTEM SET default_transaction_read_only = "+readOnly)
		mustExec(t, db, "SELECT pg_reload_conf()")
	}
	pay := func() int {
		a, err := n.send(t.Context(), "POST", "/v1/transactions", payment(100, "card", ""), "")
		if err != nil {
			t.Fatal(err)
		}
		return a.status
	}
	set("on")
	programtest.WaitFor(t, "payments are refused", func() bool { return pay() == 503 })
	db.SetMaxIdleConns(0) // a new session has the setting, an old one reads it later
	programtest.WaitFor(t, "new sessions take no writes", func() bool {
		return number(t, db, "SELECT current_setting('default_transaction_read_only')::bool::int") == 1
	})
	if _, err := db.ExecContext(t.Context(), "SELECT pg_terminate_backend(pid, 60000) "+ours); err != nil {
		t.Fatal(err)
	}
	n.wantUnavailable(t, "read only", routes[0])
	if a, err := n.send(t.Context(), "GET", "/v1/health", "", ""); err != nil || a.status != 503 {
		t.Errorf("health: got %d, %v", a.status, err)
	}
	set("off")
	programtest.WaitFor(t, "payments are accepted again", func() bool { return pay() == 201 })
	programtest.WaitFor(t, "health is 200", n.healthy(t))
}
