package failover_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
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

// shop is a set of cores on a cluster, with a merchant's key.
type shop struct {
	key     string
	cores   []string // their addresses
	journal string   // of the simulated acquirer
}

func openShop(t *testing.T, c *cluster, cores int) *shop {
	t.Helper()
	f := fleet.Start(t, fleet.Config{
		Cores:    cores,
		Store:    c.URL(),
		CoreArgs: []string{"--simulator", crash.HostileCatalogue(t)},
	})
	// Settlement at the cutoff would change captured payments after their acknowledgement.
	f.Run(t, "merchants", "update", f.Merchant, "--cutoff", clock.System().Now().UTC().Add(12*time.Hour).Format("15:04"))
	s := &shop{key: f.Secret, journal: f.Journal}
	for _, core := range f.Cores.All() {
		s.cores = append(s.cores, core.URL())
	}
	return s
}

// verdict is the comparison of a load with the stored payments.
type verdict struct {
	Acknowledged   int
	Failed         int      // failed attempts before the acknowledged one
	Lost           []string // acknowledged, and not stored
	Differ         []string // stored otherwise than acknowledged
	Twice          []string // stored more than once, or not taken exactly once
	Unacknowledged []string // stored, and never acknowledged
}

// Faults returns all faults.
func (v *verdict) Faults() (out []string) {
	for what, of := range map[string][]string{
		"lost": v.Lost, "differs": v.Differ, "twice": v.Twice,
		"unacknowledged": v.Unacknowledged,
	} {
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
	ctx, cancel := context.WithTimeout(t.Context(), patience(t))
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
		err := db.QueryRowContext(t.Context(),
			`SELECT (SELECT COUNT(*) FROM transactions WHERE status IN ('processing', 'unknown')) +
			(SELECT COUNT(*) FROM idempotency_keys WHERE status = 0)`).Scan(&open)
		return err == nil && open == 0
	})
	there := map[string][]jsontext.Value{} // by reference
	s.list(t, since, func(reference string, v jsontext.Value) { there[reference] = append(there[reference], v) })
	taken, err := crash.Taken(s.journal)
	if err != nil {
		t.Fatal(err)
	}
	v := &verdict{}
	for _, l := range loads {
		for _, p := range l.payments {
			v.Acknowledged++
			v.compare(p, there[p.key], taken)
			delete(there, p.key)
		}
	}
	for reference := range there {
		// other references belong to an earlier load
		if slices.ContainsFunc(loads, func(l *load) bool { return strings.HasPrefix(reference, l.name+"-") }) {
			v.Unacknowledged = append(v.Unacknowledged, reference)
		}
	}
	return v
}

// compare compares one payment with the stored ones. Next to the acknowledged one, failed attempts
// may exist. The client got 504, the acquirer had no record, and core closed the attempt as failed
// before the retry.
func (v *verdict) compare(p *payment, there []jsontext.Value, taken map[string]int) {
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
	switch acknowledged := canonical(jsontext.Value(p.body)); {
	case len(live) == 0:
		v.Lost = append(v.Lost, fmt.Sprintf("%s (%d requests, first status %d): %s; stored: %s", p.key, p.requests, p.first,
			p.body, there))
	case len(live) > 1:
		v.Twice = append(v.Twice, fmt.Sprintf("%s is there %d times: %s", p.key, len(live), live))
	case canonical(live[0]) != acknowledged:
		v.Differ = append(v.Differ, fmt.Sprintf("%s was acknowledged as %s and is %s", p.key, acknowledged, live[0]))
	}
}

// transaction has the fields that the oracle compares.
type transaction struct {
	ID        string         `json:"id"`
	Reference string         `json:"reference"`
	Status    string         `json:"status"`
	Captured  int64          `json:"amount_captured"`
	Rest      map[string]any `json:",embed"`
}

func decoded(v jsontext.Value) (t transaction) {
	_ = json.Unmarshal(v, &t) // an unexpected type makes the values differ
	return t
}

// canonical returns a JSON text in canonical form.
func canonical(v jsontext.Value) string {
	v = v.Clone()
	if err := v.Canonicalize(); err != nil {
		return err.Error()
	}
	return string(v)
}

// list calls see for every transaction since a time.
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

// fetch reads the JSON at an address; with into nil, only the status counts.
func fetch(ctx context.Context, at, key string, into any) error {
	return fetchBy(ctx, http.DefaultClient, at, key, into)
}

// fetchBy sends the request by a client.
func fetchBy(ctx context.Context, by *http.Client, at, key string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil {
		return err
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := by.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it is read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: HTTP %d", at, response.StatusCode)
	}
	if into == nil {
		return nil
	}
	return json.UnmarshalRead(response.Body, into)
}
