package failover_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/deploy/test/crash"
	"github.com/causeway-pay/causeway/deploy/test/fleet"
	"github.com/causeway-pay/causeway/shared/clock"
)

// shop is some cores on a cluster, with a merchant's key.
type shop struct {
	key   string
	cores []string // their addresses
	book  *book
}

func openShop(t *testing.T, c *cluster, cores int) *shop {
	t.Helper()
	f := fleet.Start(t, fleet.Config{Cores: cores, Store: c.URL(), CoreArgs: []string{"--simulator", hostileAcquirer(t)}})
	// At the end of its day what was captured is settled, and is not as it was acknowledged any more.
	f.Run(t, "merchants", "update", f.Merchant, "--cutoff", clock.System().Now().UTC().Add(12*time.Hour).Format("15:04"))
	s := &shop{key: f.Secret, book: openBook(t)}
	s.book.Lend(t, c.Healthy(t, true))
	for _, core := range f.Cores.All() {
		s.cores = append(s.cores, core.URL())
	}
	return s
}

// hostileAcquirer returns the file of a simulator that is slow, late, flaky and contradictory at
// random.
func hostileAcquirer(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "configs", "simulator.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	_, hostile := crash.Catalogues(string(text))
	path := filepath.Join(t.TempDir(), "simulator.yaml")
	if err := os.WriteFile(path, []byte(hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// verdict is what became of the payments of a load.
type verdict struct {
	Acknowledged int
	Failed       int      // came to nothing before they were acknowledged
	Lost         []string // were acknowledged, and are not there
	Differ       []string // are there otherwise than they were acknowledged
	Twice        []string // are there more than once, or were not taken exactly once
	Unasked      []string // are there, and no client was told
}

// Faults is all that is wrong.
func (v *verdict) Faults() (out []string) {
	for what, of := range map[string][]string{"lost": v.Lost, "differs": v.Differ, "twice": v.Twice, "unasked": v.Unasked} {
		for _, one := range of[:min(len(of), 5)] {
			out = append(out, what+": "+one)
		}
		if len(of) > 5 {
			out = append(out, fmt.Sprintf("%s: %d in all", what, len(of)))
		}
	}
	return out
}

// judge compares the responses of some loads with the payments that exist. since is before the
// first of them. A payment that the acquirer approved late is released within some looks of its
// pending reversal, so judge waits for a verdict without a fault.
func (s *shop) judge(t *testing.T, db *sql.DB, since time.Time, loads ...*load) *verdict {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		v := s.judgeOnce(t, db, since, loads...)
		if len(v.Lost) > 0 || len(v.Faults()) == 0 {
			return v
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return v
		}
	}
}

func (s *shop) judgeOnce(t *testing.T, db *sql.DB, since time.Time, loads ...*load) *verdict {
	t.Helper()
	waitFor(t, "nothing is open", func() bool {
		var open int
		err := db.QueryRowContext(t.Context(), `SELECT (SELECT COUNT(*) FROM transactions WHERE status IN ('processing', 'unknown')) +
			(SELECT COUNT(*) FROM idempotency_keys WHERE status = 0)`).Scan(&open)
		return err == nil && open == 0
	})
	there := map[string][]jsontext.Value{} // by reference
	s.list(t, since, func(reference string, v jsontext.Value) { there[reference] = append(there[reference], v) })
	taken := s.book.Taken(t)
	v := &verdict{}
	for _, l := range loads {
		for _, p := range l.payments {
			v.Acknowledged++
			v.look(p, there[p.key], taken)
			delete(there, p.key)
		}
	}
	for reference := range there {
		if slices.ContainsFunc(loads, func(l *load) bool { return strings.HasPrefix(reference, l.name+"-") }) { // else it is of an earlier one
			v.Unasked = append(v.Unasked, reference)
		}
	}
	return v
}

// look holds one payment against what there is of it. Beside the one that was acknowledged there may be those that came to nothing: the client was told
// that nobody knew (504), the acquirer did not know either, and the payment was closed as failed before the client asked again.
func (v *verdict) look(p *payment, there []jsontext.Value, taken map[string]int) {
	var live []jsontext.Value
	for _, one := range there {
		of := decoded(one)
		n := taken[of.ID]
		if of.Status == "failed" && n == 0 && of.Captured == 0 {
			v.Failed++
			continue
		}
		if live = append(live, one); n != 1 {
			v.Twice = append(v.Twice, fmt.Sprintf("%s: the acquirer took %s %d times, want once: %s", p.key, of.ID, n, one))
		}
	}
	switch told := canonical(jsontext.Value(p.body)); {
	case len(live) == 0:
		v.Lost = append(v.Lost, fmt.Sprintf("%s (asked %d times, first told %d): %s; there is %s", p.key, p.asked, p.first, p.body, there))
	case len(live) > 1:
		v.Twice = append(v.Twice, fmt.Sprintf("%s is there %d times: %s", p.key, len(live), live))
	case canonical(live[0]) != told:
		v.Differ = append(v.Differ, fmt.Sprintf("%s was acknowledged as %s and is %s", p.key, told, live[0]))
	}
}

// transaction is what of one the oracle goes by.
type transaction struct {
	ID        string         `json:"id"`
	Reference string         `json:"reference"`
	Status    string         `json:"status"`
	Captured  int64          `json:"amount_captured"`
	Rest      map[string]any `json:",embed"`
}

func decoded(v jsontext.Value) (t transaction) {
	_ = json.Unmarshal(v, &t) // what does not fit is another one than was told
	return t
}

// canonical is a JSON text in the one way to write it.
func canonical(v jsontext.Value) string {
	v = v.Clone()
	if err := v.Canonicalize(); err != nil {
		return err.Error()
	}
	return string(v)
}

// list hands every transaction since a time to see.
func (s *shop) list(t *testing.T, since time.Time, see func(reference string, v jsontext.Value)) {
	t.Helper()
	q := url.Values{"limit": {"100"}, "created_after": {since.Format(time.RFC3339Nano)}}
	for more := true; more; {
		var page struct {
			Data []jsontext.Value `json:"data"`
			More bool             `json:"has_more"`
			Rest map[string]any   `json:",embed"`
		}
		waitFor(t, "a list", func() bool { return s.get(t.Context(), "/v1/transactions?"+q.Encode(), &page) == nil })
		for _, v := range page.Data {
			of := decoded(v)
			see(of.Reference, v)
			q.Set("starting_after", of.ID)
		}
		more = page.More
	}
}

func (s *shop) get(ctx context.Context, path string, into any) error {
	return fetch(ctx, s.cores[0]+path, s.key, into)
}

// fetch reads the JSON at an address; into is nil when the status is all that counts.
func fetch(ctx context.Context, at, key string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return err
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it is read
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: HTTP %d", at, answer.StatusCode)
	}
	if into == nil {
		return nil
	}
	return json.UnmarshalRead(answer.Body, into)
}
