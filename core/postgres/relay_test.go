package postgres_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres/postgrestest"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// relay forwards the connections of cores to a server, and cuts them at a COMMIT. On a connection
// that writes batches, every statement counts as a COMMIT.
type relay struct {
	to string

	mu      sync.Mutex
	commits int // number of commits up to the one that is cut; 0 for none
	reach   reach
	conns   map[net.Conn]bool
	sent    traffic
}

// reach is the part of a cut message that the server receives.
type reach int

const (
	nowhere reach = iota
	halfway       // the first of several statements, or the first half of one
	through       // all: only the response is lost
)

// traffic counts the statements and the round trips to the server.
type traffic struct{ statements, trips int }

// newRelay listens in a new folder, which it returns, and forwards to a socket.
func newRelay(t *testing.T, to string) (*relay, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "relay") //nolint:usetesting // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{to: to, conns: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return // the test has ended
			}
			go r.serve(t.Context(), client)
		}
	}()
	return r, dir
}

// cut makes the relay cut the connection of the nth COMMIT from now on.
func (r *relay) cut(nth int, reach reach) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commits, r.reach = nth, reach
}

// waits reports whether the cut is still due.
func (r *relay) waits() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.commits > 0
}

// half returns a message up to the end of the first statement in it. The commit of all statements
// follows the last one.
func half(message []byte) []byte {
	for at := 0; len(message) >= at+5; {
		kind := message[at]
		at += 1 + int(binary.BigEndian.Uint32(message[at+1:at+5]))
		if kind == 'E' && at <= len(message) {
			return message[:at]
		}
	}
	return message[:len(message)/2]
}

// cuts reports whether the relay cuts the connection at this message, and how much of the message
// the server receives.
func (r *relay) cuts(message []byte, batches bool) (cut bool, reach reach) {
	begin := bytes.ToLower(message[:min(len(message), 32)])
	commit := bytes.HasPrefix(message, []byte("Q")) && bytes.Contains(begin, []byte("commit"))
	if !commit && (!batches || !bytes.HasPrefix(message, []byte("B"))) {
		return false, nowhere
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.commits == 0 {
		return false, nowhere
	}
	r.commits--
	return r.commits == 0, r.reach
}

// count counts the messages of PostgreSQL's protocol in a message.
func (r *relay) count(message []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(message) >= 5 {
		switch message[0] {
		case 'E': // execute
			r.sent.statements++
		case 'S': // sync
			r.sent.trips++
		case 'Q': // a simple query
			r.sent.statements++
			r.sent.trips++
		}
		message = message[min(len(message), 1+int(binary.BigEndian.Uint32(message[1:5]))):]
	}
}

func (r *relay) serve(ctx context.Context, client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := (&net.Dialer{}).DialContext(ctx, "unix", r.to)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var withhold sync.Mutex // held while no response is forwarded
	received := make(chan struct{}, 1)
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			select {
			case received <- struct{}{}:
			default:
			}
			withhold.Lock()
			if err == nil {
				_, err = client.Write(buf[:n])
			}
			withhold.Unlock()
			if err != nil {
				_ = client.Close()
				return
			}
		}
	}()
	buf := make([]byte, 64<<10)
	for first, batches := true, false; ; first = false {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if !first {
			r.count(buf[:n])
		} else {
			batches = bytes.Contains(buf[:n], []byte("force_generic_plan"))
		}
		cut, reach := r.cuts(buf[:n], batches)
		if cut {
			withhold.Lock()
			defer withhold.Unlock()
			switch reach {
			case nowhere:
			case halfway:
				_, _ = server.Write(half(buf[:n]))
			case through:
				select {
				case <-received: // an earlier response
				default:
				}
				_, _ = server.Write(buf[:n])
				<-received // the server has committed
			}
			_ = client.Close() // before the response can be forwarded
			return
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// TestUnknownCommitPostgreSQL: if the connection is cut at a COMMIT, its outcome is unknown, and
// core does not repeat it blindly. The client retries with its key. Whichever commit was cut, both
// requests together make one payment, one authorization and one event.
func TestUnknownCommitPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	r, dir := newRelay(t, server.Socket())
	n := open(t, with(t, server.URL(nil), url.Values{"host": {dir}}))
	db := inspect(t, server.URL(nil))
	for _, c := range []struct {
		name  string
		nth   int
		reach reach
	}{
		{"intent not made", 1, nowhere},
		{"intent made", 1, through},
		{"outcome not made", 2, nowhere},
		{"outcome half made", 2, halfway},
		{"outcome made", 2, through},
	} {
		var got response
		var before [3]int64
		key := ""
		for try := 0; got.status == 0 || got.status == 201; try++ { // a commit of background work may have been cut
			before = n.effects(t, db)
			key = fmt.Sprint(c.name, try)
			r.cut(c.nth, c.reach)
			var err error
			if got, err = n.send(t.Context(), "POST", "/v1/transactions", payment(1000, "card", ""), key); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%s: the first response is %d", c.name, got.status)
		programtest.WaitFor(t, "the key has an outcome", func() bool {
			var err error
			got, err = n.send(t.Context(), "POST", "/v1/transactions", payment(1000, "card", ""), key)
			return err == nil && got.status == 201
		})
		now := n.effects(t, db)
		for i, rows := range []string{"payments", "events", "authorizations"} {
			if got := now[i] - before[i]; got != 1 {
				t.Errorf("%s: got %d %s, want one", c.name, got, rows)
			}
		}
	}
}

// TestTrafficOfAPaymentPostgreSQL: a payment takes two round trips and five statements. Two of the
// statements take the shared lock of writers. A payment that is not written in batches takes ten
// round trips and statements. A replay takes six round trips and seven statements, one of which
// shares the lock. The background adds to that.
func TestTrafficOfAPaymentPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	for alone, want := range map[bool]traffic{false: {5, 2}, true: {10, 10}} {
		r, dir := newRelay(t, server.Socket())
		source := with(t, server.URL(nil), url.Values{"host": {dir}, "patience": {"60s"}})
		n := openOn(t, func(ctx context.Context, c clock.Clock) (*store.DB, error) {
			return postgrestest.Open(ctx, source, c, postgrestest.Options{Alone: alone})
		})
		pay := func(i int) {
			key := fmt.Sprint(alone, " key ", i)
			n.must(t, 201, "POST", "/v1/transactions", payment(1000, "card", `,"reference":"order"`), key)
		}
		if least := r.least(pay); least != want {
			t.Errorf("alone %t: got %+v, want %+v", alone, least, want)
		}
		if least := r.least(pay); !alone && least != (traffic{7, 6}) {
			t.Errorf("a replay: got %+v, want 7 statements in 6 round trips", least)
		}
	}
}

// least returns the least traffic of 50 requests.
func (r *relay) least(request func(n int)) traffic {
	least := traffic{1 << 20, 1 << 20}
	for n := range 50 {
		r.mu.Lock()
		r.sent = traffic{}
		r.mu.Unlock()
		request(n)
		r.mu.Lock()
		least = traffic{min(least.statements, r.sent.statements), min(least.trips, r.sent.trips)}
		r.mu.Unlock()
	}
	return least
}

// effects counts payments, events and authorizations. It leaves out failed payments, which never
// reached the acquirer: the cut may have come before.
func (n *node) effects(t *testing.T, db *sql.DB) [3]int64 {
	t.Helper()
	approved, _ := n.cluster.authorizations(t)
	return [3]int64{
		number(t, db, "SELECT COUNT(*) FROM transactions WHERE status <> 'failed'"),
		number(t, db, "SELECT COUNT(*) FROM events WHERE type = 'transaction.captured'"),
		approved,
	}
}
