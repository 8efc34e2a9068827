package api_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// serverCore is one of several cores on a server.
type serverCore struct {
	core *core.Core
	key  string
}

func mustOpenOn(t *testing.T, d *coretest.Database, now *offClock) *core.Core {
	t.Helper()
	c, err := core.Open(t.Context(), core.Config{
		Data: t.TempDir(), Clock: now, Database: d.Open, VaultKEK: testKEK(), Log: slog.New(slog.DiscardHandler),
		SimulatorJournal: filepath.Join(t.TempDir(), "simulator.journal"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// call sends a request and returns its status, its body and its Date.
func (c serverCore) call(t *testing.T, method, path, body, key string) (int, []byte, time.Time) {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header = http.Header{"Authorization": {"Bearer " + c.key}, "Content-Type": {"application/json"}}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	c.core.Handler().ServeHTTP(w, r)
	got := w.Result()
	text, _ := io.ReadAll(got.Body)
	_ = got.Body.Close()
	date, err := http.ParseTime(got.Header.Get("Date"))
	if err != nil {
		t.Error(err)
	}
	return got.StatusCode, text, date
}

// mustUse sends a request with a key as soon as the core takes requests. It returns Date and the
// time of the key.
func (c serverCore) mustUse(t *testing.T, key, path, body string) (date, made time.Time) {
	t.Helper()
	programtest.WaitFor(t, "the core takes requests", func() bool {
		status, _, _ := c.call(t, http.MethodPost, path, body, key)
		return status == http.StatusCreated
	})
	_, found, date := c.call(t, http.MethodGet, "/v1/idempotency_keys/"+key, "", "")
	var record v1.IdempotencyKeyRecord
	if err := json.Unmarshal(found, &record); err != nil {
		t.Fatal(err)
	}
	return date, record.CreatedAt.Time
}

// TestDateAfterTheServersClockIsSetBackPostgreSQL: the clocks of the server and of its machine's
// cores are set back by a day. Date and the times of new keys go on, at both cores and at one that
// starts later.
func TestDateAfterTheServersClockIsSetBackPostgreSQL(t *testing.T) {
	t.Parallel()
	server := pgtest.Steered(t)
	now, d := new(offClock), coretest.OnServer(server.URL(nil))
	d.MustMigrate(t)
	server.SetClock(t, 0)
	var cores []serverCore
	start := func() {
		c := serverCore{core: mustOpenOn(t, d, now)}
		t.Cleanup(func() { _ = c.core.Close() })
		if len(cores) == 0 {
			merchant := coretest.MustCreateMerchant(t, c.core.Admin())
			c.key = coretest.MustCreateKey(t, c.core.Admin(), core.KeySpec{Merchant: merchant, Mode: "test", Kind: "secret"})
		} else {
			c.key = cores[0].key
		}
		cores = append(cores, c)
	}
	want := func(step string) {
		t.Helper()
		for i, c := range cores {
			for path, body := range map[string]string{
				"/v1/idempotency_keys": `{"purpose":"test"}`,
				"/v1/transactions":     `{"amount":5,"currency":"usd","payment_method":"pm_card_visa"}`,
			} {
				date, made := c.mustUse(t, fmt.Sprint(step, "-", i, path[len("/v1/"):]), path, body)
				expected := clock.System().Now()
				if date.Sub(expected).Abs() > time.Minute || made.Sub(expected).Abs() > time.Minute {
					t.Errorf("%s, core %d, %s: got Date %s and a key of %s, want %s", step, i, path, date, made, expected)
				}
			}
		}
	}
	start()
	start()
	want("before")
	const back = 24 * time.Hour
	server.SetClock(t, -back)
	now.by.Store(int64(-back))
	want("back")
	start()
	want("started")
	server.SetClock(t, 0)
	now.by.Store(0)
	want("corrected")
}
