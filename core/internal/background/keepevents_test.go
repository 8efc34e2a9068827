package background_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestKeepEvents: events are removed at the end of their period, also by the first pass after the
// start. A period that is too short is refused.
func TestKeepEvents(t *testing.T) {
	t.Parallel()
	for _, wrong := range []time.Duration{-time.Hour, 1, core.LeastKeepEvents - 1} {
		c, err := core.Open(t.Context(), core.Config{Data: t.TempDir(), KeepEvents: wrong})
		if err == nil {
			t.Errorf("%s: opened, %v", wrong, c.Close())
		} else if !strings.Contains(err.Error(), "60 days") {
			t.Errorf("%s: got %v", wrong, err)
		}
	}
	dir, now := t.TempDir(), clock.NewFake(coretest.Birth)
	open := func(keep time.Duration) *core.Core {
		t.Helper()
		c, err := core.Open(t.Context(), core.Config{Data: dir, Clock: now, KeepEvents: keep})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	events := func() (n int) {
		t.Helper()
		db := coretest.MustInspect(t, filepath.Join(dir, "causeway.db"))
		defer func() { _ = db.Close() }() // it wrote nothing
		row := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM events WHERE type <> 'api_key.created'")
		if err := row.Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	stop := func(c *core.Core) {
		t.Helper()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	c := open(core.LeastKeepEvents)
	merchant := coretest.MustCreateMerchant(t, c.Admin())
	key := coretest.MustCreateKey(t, c.Admin(), core.KeySpec{Merchant: merchant, Mode: "test", Kind: "secret"})
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/customers", strings.NewReader("{}"))
	r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
	if c.Handler().ServeHTTP(w, r); w.Code != 201 || events() != 1 {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	stop(c)
	now.Advance(core.LeastKeepEvents + time.Second)
	(&coretest.Database{Path: filepath.Join(dir, "causeway.db")}).MustConfirm(t, now)
	c = open(core.LeastKeepEvents)
	programtest.WaitFor(t, "the event is removed", func() bool { return events() == 0 })
	stop(c)
}
