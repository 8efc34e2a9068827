package postgres_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// off is a clock with an offset that the test sets.
type off struct{ by atomic.Int64 }

func (o *off) Now() time.Time { return clock.System().Now().Add(time.Duration(o.by.Load())) }

// openOff opens a core whose clock is off, on a new schema.
func openOff(t *testing.T, by time.Duration) (*core.Core, *off) {
	t.Helper()
	database, err := postgres.Database(secret.New(pgtest.Schema(t)))
	if err != nil {
		t.Fatal(err)
	}
	now := &off{}
	now.by.Store(int64(by))
	c, err := core.Open(t.Context(), core.Config{
		Database: database, Clock: now,
		VaultKEK:         secret.New("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="),
		SimulatorJournal: filepath.Join(t.TempDir(), "simulator.journal"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, now
}

// TestAClockThatIsOffPostgreSQL: a core whose clock is minutes off the server's is not ready and
// reports the offset. It accepts only reads until the clock is right.
func TestAClockThatIsOffPostgreSQL(t *testing.T) {
	t.Parallel()
	c, now := openOff(t, -3*time.Minute)
	operator, err := c.Admin().CreateOperator(t.Context(), "alice", core.RoleOperator, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	merchant, err := c.Admin().CreateMerchant(t.Context(), "Shop")
	if err != nil {
		t.Fatal(err)
	}
	key, err := c.Admin().CreateKey(t.Context(), core.KeySpec{Merchant: merchant, Mode: "test", Kind: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	send := func(method, path, body, named string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header = http.Header{"Authorization": {"Bearer " + key.Reveal()}, "Content-Type": {"application/json"}}
		if named != "" {
			r.Header.Set("Idempotency-Key", named)
		}
		c.Handler().ServeHTTP(w, r)
		return w
	}
	reads := func(when string) {
		t.Helper()
		w := send("POST", "/v1/transactions", payment(100, "card", ""), "once")
		if w.Code != 503 || w.Header().Get("Retry-After") != "5" ||
			!strings.Contains(w.Body.String(), `"store_unavailable"`) {
			t.Errorf("%s: a payment: got %d %s", when, w.Code, w.Body)
		}
		if w := send("GET", "/v1/transactions", "", ""); w.Code != 200 {
			t.Errorf("%s: a list: got %d %s", when, w.Code, w.Body)
		}
		if w := send("GET", "/v1/idempotency_keys/once", "", ""); w.Code != 503 {
			t.Errorf("%s: the state of a key: got %d %s", when, w.Code, w.Body)
		}
		for route, want := range map[string]int{
			"POST /admin/v1/merchants": 503, "GET /admin/v1/merchants": 200,
			"DELETE /admin/v1/merchants/" + merchant + "/api_keys/key_none": 404,
		} {
			method, path, _ := strings.Cut(route, " ")
			body := strings.NewReader(`{"name":"Other"}`)
			w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, path, body)
			r.Header = http.Header{"Authorization": {"Bearer " + operator.Reveal()}, "Content-Type": {"application/json"}}
			c.Operations().ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%s: %s: got %d %s", when, route, w.Code, w.Body)
			}
		}
	}
	reads("behind")
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		c.Operations().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		body, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		return w.Code, string(body)
	}
	// The offset is the least possible one: it does not include the time of the server's response.
	status, body := get("/v1/health")
	offset := regexp.MustCompile(`"clock":"failing: (\S+) behind the store's"`).FindStringSubmatch(body)
	if status != 503 || offset == nil {
		t.Fatalf("got %d %s", status, body)
	}
	by, err := time.ParseDuration(offset[1])
	if err != nil || by > 3*time.Minute+time.Second || by < 2*time.Minute+30*time.Second {
		t.Errorf("got %s, %v", by, err)
	}
	_, body = get("/metrics")
	value := regexp.MustCompile(`\ncauseway_core_clock_offset_seconds (\S+)\n`).FindStringSubmatch(body)
	if value == nil || !strings.Contains(body, "\ncauseway_core_leads 0\n") {
		t.Fatalf("got %s", body)
	}
	if by, err := strconv.ParseFloat(value[1], 64); err != nil || by < -181 || by > -150 {
		t.Errorf("got %f, %v", by, err)
	}
	now.by.Store(0)
	programtest.WaitFor(t, "the core is ready", func() bool {
		status, body := get("/v1/health")
		return status == 200 && strings.Contains(body, `"clock":"ok"`)
	})
	programtest.WaitFor(t, "it leads", func() bool {
		_, body := get("/metrics")
		return strings.Contains(body, "\ncauseway_core_leads 1\n")
	})
	programtest.WaitFor(t, "the payment is acknowledged", func() bool {
		return send("POST", "/v1/transactions", payment(100, "card", ""), "once").Code == 201
	})
	now.by.Store(int64(25 * time.Hour))
	// Before any heartbeat, and not a second payment, although by this clock the key has expired.
	reads("ahead")
	if status, body := get("/v1/health"); status != 503 || !strings.Contains(body, "ahead of the store's") {
		t.Errorf("ahead: got %d %s", status, body)
	}
}

// jumping is the body of a request that sets the clock once the request has begun.
type jumping struct {
	io.Reader
	clock *off
	to    time.Duration
}

func (j jumping) Read(p []byte) (int, error) {
	j.clock.by.Store(int64(j.to))
	return j.Reader.Read(p)
}

// TestAClockThatJumpsUnderARequestPostgreSQL: a retry that is under way when the clock jumps a day
// ahead makes no second payment.
func TestAClockThatJumpsUnderARequestPostgreSQL(t *testing.T) {
	t.Parallel()
	c, now := openOff(t, 0)
	merchant, err := c.Admin().CreateMerchant(t.Context(), "Shop")
	if err != nil {
		t.Fatal(err)
	}
	key, err := c.Admin().CreateKey(t.Context(), core.KeySpec{Merchant: merchant, Mode: "test", Kind: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	pay := func(to time.Duration) *httptest.ResponseRecorder {
		now.by.Store(0)
		body := jumping{strings.NewReader(payment(100, "card", "")), now, to}
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "POST", "/v1/transactions", body)
		r.Header = http.Header{
			"Authorization": {"Bearer " + key.Reveal()}, "Content-Type": {"application/json"}, "Idempotency-Key": {"once"},
		}
		c.Handler().ServeHTTP(w, r)
		return w
	}
	programtest.WaitFor(t, "the payment is acknowledged", func() bool { return pay(0).Code == 201 })
	if w := pay(25 * time.Hour); w.Code != 503 || !strings.Contains(w.Body.String(), `"store_unavailable"`) {
		t.Errorf("under a jump: got %d %s", w.Code, w.Body)
	}
	programtest.WaitFor(t, "the clock agrees", func() bool { return pay(0).Header().Get("Idempotent-Replayed") == "true" })
}
