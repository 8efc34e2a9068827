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
	"GET /v1/transactions", "GET /v1/transactions/%s", "POST /v1/transactions/%s/captures {}", "POST /v1/transactions/%s/void",
	`POST /v1/refunds {"transaction":"%s"}`, "GET /v1/refunds", "POST /v1/customers {}", "GET /v1/customers", "POST /v1/tokens " + visa,
	"GET /v1/events", "GET /v1/webhook_endpoints", `POST /v1/webhook_endpoints {"url":"https://example.com/","enabled_events":["*"]}`,
	"GET /v1/api_keys", "GET /v1/idempotency_keys/k", "POST /v1/test_helpers/settlement_runs",
	"POST /v1/transactions/%s/confirm {}", "GET /v1/transactions/%s/captures",
}

// TestStoreDownPostgreSQL: while the server stands still or is away, every request that needs it is told so, health is red, and what waits is bounded;
// once it is back all goes on by itself. It is not parallel: it counts the goroutines of the process.
func TestStoreDownPostgreSQL(t *testing.T) {
	server := pgtest.Own(t)
	n := open(t, server.URL(nil))
	txn := n.until(t, 201, "POST", "/v1/transactions", payment(1000, "card", `,"capture":"manual"`), "k")["id"].(string)
	for what, c := range map[string]struct{ down, up func() }{
		"stands still": {server.Pause, server.Resume},
		"is stopped":   {func() { server.Halt(t) }, func() { server.Again(t) }},
	} {
		before := runtime.NumGoroutine()
		c.down()
		var asking sync.WaitGroup
		for _, route := range routes {
			asking.Go(func() { n.wantUnavailable(t, what, strings.ReplaceAll(route, "%s", txn)) })
		}
		asking.Wait()
		begun := time.Now() //nolint:forbidigo // how long it takes is what is to be seen
		if a, err := n.ask(t.Context(), "GET", "/v1/health", "", ""); err != nil || a.status != 503 || time.Since(begun) > promptly {
			t.Errorf("%s: health: got %d, %v after %s", what, a.status, err, time.Since(begun))
		}
		most, answers := n.storm(t, 200, 4*time.Second)
		t.Logf("%s: %d goroutines before, at most %d under 200 clients; answers %v", what, before, most, answers)
		if most > before+200*8+400 {
			t.Errorf("%s: goroutines pile up: %d before, %d under 200 clients", what, before, most)
		}
		c.up()
		programtest.WaitFor(t, "payments are taken again", func() bool {
			a, err := n.ask(t.Context(), "POST", "/v1/transactions", payment(100, "card", ""), "")
			return err == nil && a.status == 201
		})
		programtest.WaitFor(t, "health is green", n.healthy(t))
		programtest.WaitFor(t, "the goroutines are gone", func() bool { return runtime.NumGoroutine() < before+250 })
	}
}

// promptly bounds the time to the response that the store is away. Two seconds are promised, and the
// log shows the time. A defect waits for the server, which returns only after the responses. The rest
// is for a machine that is busy with other tests.
const promptly = 2 * time.Minute

// wantUnavailable sends a request, METHOD path and perhaps a body, and wants to be told that the store is away.
func (n *node) wantUnavailable(t *testing.T, what, route string) {
	t.Helper()
	words := strings.SplitN(route+"  ", " ", 3)
	begun := time.Now() //nolint:forbidigo // as above
	a, err := n.ask(t.Context(), words[0], words[1], strings.TrimSpace(words[2]), "")
	took := time.Since(begun)
	if err != nil {
		t.Errorf("%s: %s: %v", what, route, err)
		return
	}
	t.Logf("%s: %s: told after %s", what, route, took.Round(time.Millisecond))
	code := ""
	if e, ok := a.body["error"].(map[string]any); ok {
		code = fmt.Sprint(e["code"])
	}
	if a.status != 503 || code != "store_unavailable" || a.header.Get("Retry-After") == "" || took > promptly {
		t.Errorf("%s: %s: got %d %s after %s, Retry-After %q", what, route, a.status, code, took, a.header.Get("Retry-After"))
	}
}

// storm has clients pay without a pause for some time, and returns how many goroutines there were at most, and the answers by status.
func (n *node) storm(t *testing.T, clients int, during time.Duration) (most int, answers map[int]int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), during)
	defer cancel()
	answers = map[int]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				a, err := n.ask(ctx, "POST", "/v1/transactions", payment(100, "card", ""), "")
				if err != nil {
					continue // the time is over
				}
				mu.Lock()
				answers[a.status]++
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
			return most, answers
		case <-tick.C:
			most = max(most, runtime.NumGoroutine())
		}
	}
}

// TestReadOnlyStorePostgreSQL: a server that takes no writes is told of as one that is away is, and found again once it does.
func TestReadOnlyStorePostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	n := open(t, server.URL(nil))
	db := inspect(t, server.URL(nil))
	set := func(readOnly string) {
		t.Helper()
		for _, statement := range []string{"ALTER SYSTEM SET default_transaction_read_only = " + readOnly, "SELECT pg_reload_conf()"} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	pay := func() int {
		a, err := n.ask(t.Context(), "POST", "/v1/transactions", payment(100, "card", ""), "")
		if err != nil {
			t.Fatal(err)
		}
		return a.status
	}
	set("on")
	programtest.WaitFor(t, "payments are refused", func() bool { return pay() == 503 })
	db.SetMaxIdleConns(0) // a session of the server's reads a setting when it comes to it; one that begins has it
	programtest.WaitFor(t, "new sessions take no writes", func() bool {
		return number(t, db, "SELECT current_setting('default_transaction_read_only')::bool::int") == 1
	})
	if _, err := db.ExecContext(t.Context(), "SELECT pg_terminate_backend(pid, 60000) "+ours); err != nil {
		t.Fatal(err)
	}
	n.wantUnavailable(t, "read only", routes[0])
	if a, err := n.ask(t.Context(), "GET", "/v1/health", "", ""); err != nil || a.status != 503 {
		t.Errorf("health: got %d, %v", a.status, err)
	}
	set("off")
	programtest.WaitFor(t, "payments are taken again", func() bool { return pay() == 201 })
	programtest.WaitFor(t, "health is green", n.healthy(t))
}
