package postgres_test

import (
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestAClockThatIsOffPostgreSQL: a core whose clock is minutes off its server's is not well, and says by how much, until the clock is right.
func TestAClockThatIsOffPostgreSQL(t *testing.T) {
	t.Parallel()
	database, err := postgres.Database(secret.New(pgtest.Schema(t)))
	if err != nil {
		t.Fatal(err)
	}
	now := clock.NewFake(clock.System().Now().Add(-3 * time.Minute))
	c, err := core.Open(t.Context(), core.Config{Database: database, Clock: now, VaultKEK: secret.New("AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=")})
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
	if status, body := get("/v1/health"); status != 503 || !strings.Contains(body, `"clock":"failing: 3m0`) || !strings.Contains(body, "behind the store's") {
		t.Errorf("got %d %s", status, body)
	}
	if _, body := get("/metrics"); !strings.Contains(body, "\ncauseway_core_clock_offset_seconds -180") || !strings.Contains(body, "\ncauseway_core_leads 0\n") {
		t.Errorf("got %s", body)
	}
	soon(t, 30*time.Second, "it is well", func() bool {
		now.Set(clock.System().Now())
		status, body := get("/v1/health")
		return status == 200 && strings.Contains(body, `"clock":"ok"`)
	})
	soon(t, 30*time.Second, "it leads", func() bool {
		now.Set(clock.System().Now())
		_, body := get("/metrics")
		return strings.Contains(body, "\ncauseway_core_leads 1\n")
	})
}
