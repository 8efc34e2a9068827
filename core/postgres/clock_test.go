package postgres_test

import (
	"io"
	"net/http/httptest"
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
	"github.com/causeway-pay/causeway/shared/secret"
)

// off is a clock that goes wrong by some nanoseconds.
type off struct{ by atomic.Int64 }

func (o *off) Now() time.Time { return clock.System().Now().Add(time.Duration(o.by.Load())) }

// TestAClockThatIsOffPostgreSQL: a core whose clock is minutes off its server's is not well, and says by how much, until the clock is right.
func TestAClockThatIsOffPostgreSQL(t *testing.T) {
	t.Parallel()
	database, err := postgres.Database(secret.New(pgtest.Schema(t)))
	if err != nil {
		t.Fatal(err)
	}
	var now off
	now.by.Store(int64(-3 * time.Minute))
	c, err := core.Open(t.Context(), core.Config{Database: database, Clock: &now, VaultKEK: secret.New("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	get := func(path string) (int, string) {
		w := httptest.NewRecorder()
		c.Operations().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		body, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		return w.Code, string(body)
	}
	// What is said is the least that it can be: the time that the server took to answer comes off it.
	status, body := get("/v1/health")
	said := regexp.MustCompile(`"clock":"failing: (\S+) behind the store's"`).FindStringSubmatch(body)
	if status != 503 || said == nil {
		t.Fatalf("got %d %s", status, body)
	}
	if by, err := time.ParseDuration(said[1]); err != nil || by > 3*time.Minute+time.Second || by < 2*time.Minute+30*time.Second {
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
	soon(t, 60*time.Second, "it is well", func() bool {
		status, body := get("/v1/health")
		return status == 200 && strings.Contains(body, `"clock":"ok"`)
	})
	soon(t, 60*time.Second, "it leads", func() bool {
		_, body := get("/metrics")
		return strings.Contains(body, "\ncauseway_core_leads 1\n")
	})
}
