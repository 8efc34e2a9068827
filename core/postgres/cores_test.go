package postgres_test

import (
	"context"
	"database/sql"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// inspect opens the database for the test's queries.
func inspect(t *testing.T, store string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", store)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // it wrote nothing
	return db
}

func number(t *testing.T, db *sql.DB, query string) (n int64) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCoresAreOnePostgreSQL: three cores share one merchant, key, vault and acquirer. If all get
// the same request, one payment is made.
func TestCoresAreOnePostgreSQL(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	c := newCluster(t, store)
	nodes := make([]*node, 3)
	var starting sync.WaitGroup
	for i := range nodes { // at the same time, on a database without a keyset
		starting.Go(func() { nodes[i] = c.start(t) })
	}
	starting.Wait()
	if t.Failed() {
		t.FailNow()
	}
	db := inspect(t, store)
	if got := number(t, db, "SELECT COUNT(*) FROM secrets"); got != 2 {
		t.Errorf("got %d secrets, want the root secret and the keyset", got)
	}
	a, b, third := nodes[0], nodes[1], nodes[2]

	txn := a.must(t, 201, "POST", "/v1/transactions", payment(1000, "card", `,"capture":"manual"`), "")["id"].(string)
	b.must(t, 201, "POST", "/v1/transactions/"+txn+"/captures", "{}", "")
	third.must(t, 201, "POST", "/v1/refunds", `{"transaction":"`+txn+`","amount":400}`, "")
	voided := a.must(t, 201, "POST", "/v1/transactions", payment(1000, "card", `,"capture":"manual"`), "")["id"].(string)
	b.must(t, 200, "POST", "/v1/transactions/"+voided+"/void", "", "")

	token := a.must(t, 201, "POST", "/v1/tokens", visa, "")["value"].(string)
	paid := b.must(t, 201, "POST", "/v1/transactions", payment(500, token, ""), "")
	if got := paid["checks"].(map[string]any)["cvc"]; got != "match" {
		t.Errorf("the code of a token of another core: %v", got)
	}

	before := number(t, db, "SELECT COUNT(*) FROM transactions")
	ids := sync.Map{}
	var sending sync.WaitGroup
	for i := range 24 {
		sending.Go(func() {
			for try := 0; try < 100; try++ {
				got, err := nodes[i%3].send(t.Context(), "POST", "/v1/transactions", payment(700, "card", ""), "one")
				if err != nil {
					t.Error(err)
					return
				}
				if got.status == 201 {
					ids.Store(got.body["id"], nil)
					return
				}
				if got.status != 409 {
					t.Errorf("got %d %v", got.status, got.body)
					return
				}
			}
			t.Error("it is still running")
		})
	}
	sending.Wait()
	n := 0
	ids.Range(func(any, any) bool { n++; return true })
	if after := number(t, db, "SELECT COUNT(*) FROM transactions"); n != 1 || after != before+1 {
		t.Errorf("%d ids returned, %d payments made, want 1", n, after-before)
	}

	customer := a.must(t, 201, "POST", "/v1/customers", "{}", "")["id"].(string)
	token = b.must(t, 201, "POST", "/v1/tokens", visa, "")["value"].(string)
	made := third.must(t, 201, "POST", "/v1/customers/"+customer+"/payment_methods", `{"token":"`+token+`"}`, "")
	method := made["id"].(string)
	for range 2 { // while the cores run, which read the new key
		c.run(t, "vault", "--drop-old", "rotate")
		for _, n := range nodes {
			n.must(t, 201, "POST", "/v1/transactions", payment(100, method, ""), "")
			n.must(t, 201, "POST", "/v1/tokens", visa, "")
		}
	}
	if got := number(t, db, "SELECT COUNT(*) FROM cores WHERE beat > 0"); got != 3 {
		t.Errorf("%d cores have a heartbeat, want 3", got)
	}
}

// insist sends a payment until the store is available: on a busy machine it can take a moment. It
// ends without a response if its core is killed or its context ends.
func (n *node) insist(ctx context.Context, body, key string) {
	for {
		a, err := n.send(ctx, "POST", "/v1/transactions", body, key)
		if err != nil || a.status != http.StatusServiceUnavailable {
			return
		}
	}
}

// TestWorkOfADeadCorePostgreSQL: another core soon claims the operations of a killed core, before
// the time limit of a request ends. It does not claim the operations of a live core.
func TestWorkOfADeadCorePostgreSQL(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	c := newCluster(t, store)
	db := inspect(t, store)
	killed, alive, third := c.start(t), c.start(t), c.start(t)
	ended := make(chan struct{})
	open := func(n *node, card, key string) {
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		go func() {
			n.insist(ctx, payment(1000, card, ""), key)
			if n == alive {
				close(ended)
			}
		}()
	}
	open(killed, "pm_card_timeout_before_effect", "before")
	open(killed, "pm_card_timeout_after_effect", "after")
	open(alive, "pm_card_timeout_before_effect", "running")
	programtest.WaitFor(t, "three payments run", func() bool {
		approved, _ := c.authorizations(t)
		return number(t, db, "SELECT COUNT(*) FROM transactions WHERE status = 'processing'") == 3 && approved == 1
	})
	const ofOnePayment = "SELECT MIN(core_id) FROM transactions GROUP BY core_id HAVING COUNT(*) = 1"
	living := strconv.FormatInt(number(t, db, ofOnePayment), 10)
	killed.Kill()
	programtest.WaitFor(t, "the dead core's payments are claimed", func() bool {
		return number(t, db, "SELECT COUNT(*) FROM transactions WHERE status = 'processing' AND core_id <> "+living) == 0
	})
	running := number(t, db, `SELECT COUNT(*) FROM idempotency_keys k JOIN transactions t ON t.claim = k.id
		WHERE k.status = 0 AND t.core_id = `+living)
	select {
	case <-ended: // the claims took longer than the live core's request, on a busy machine
		t.Log("the live core's request has ended")
	default:
		if running != 1 {
			t.Error("an operation of a live core was claimed")
		}
	}
	// A retry returns the payment that had an effect. The key of the other payment is free.
	got := third.must(t, 201, "POST", "/v1/transactions", payment(1000, "pm_card_timeout_after_effect", ""), "after")
	if got["status"] != "captured" {
		t.Errorf("got %v", got["status"])
	}
	if a, err := third.send(t.Context(), "GET", "/v1/idempotency_keys/before", "", ""); err != nil || a.status != 404 {
		t.Errorf("the key of the payment without an effect: got %d, %v", a.status, err)
	}
	if got := number(t, db, "SELECT COUNT(*) FROM transactions WHERE core_id <> "+living); got != 1 {
		t.Errorf("got %d payments of dead cores, want the one with an effect", got)
	}
}

// TestLeadershipPostgreSQL: one core leads, and another one leads after its death.
func TestLeadershipPostgreSQL(t *testing.T) {
	t.Parallel()
	store := pgtest.Schema(t)
	c := newCluster(t, store)
	db := inspect(t, store)
	leads := func() int64 {
		return number(t, db, `SELECT CASE WHEN until > EXTRACT(EPOCH FROM clock_timestamp()) * 1000
			THEN core_id ELSE 0 END FROM lead`)
	}
	first := c.start(t)
	was := int64(0)
	programtest.WaitFor(t, "a core leads", func() bool { was = leads(); return was != 0 })
	c.start(t)
	// 0: on a busy machine the leadership of the first core can end before the second one takes it.
	if got := leads(); got != was && got != 0 {
		t.Errorf("a second core took the leadership from %d: %d", was, got)
	}
	first.Kill()
	programtest.WaitFor(t, "another one leads", func() bool { now := leads(); return now != 0 && now != was })
}
