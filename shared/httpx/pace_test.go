package httpx_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// slowClient records how many bytes it had taken at each deadline.
type slowClient struct {
	*httptest.ResponseRecorder
	deadlines []time.Time
	taken     []int
}

func (c *slowClient) SetWriteDeadline(t time.Time) error {
	c.deadlines, c.taken = append(c.deadlines, t), append(c.taken, c.Body.Len())
	return nil
}

// TestPace: a client gets 5 s for a response, and a second for each 8 KiB that it has taken, at
// most 60 s. A short response has no deadline besides the server's.
func TestPace(t *testing.T) {
	t.Parallel()
	for size, parts := range map[int]int{32 << 10: 0, 32<<10 + 1: 2, 1 << 20: 32} {
		c := &slowClient{ResponseRecorder: httptest.NewRecorder()}
		began := clock.System().Now()
		httpx.Pace(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if n, err := w.Write(make([]byte, size)); n != size || err != nil {
				t.Errorf("got %d, %v, want %d", n, err, size)
			}
		})).ServeHTTP(c, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
		took := clock.System().Now().Sub(began)
		if c.Body.Len() != size || len(c.deadlines) != parts {
			t.Errorf("%d bytes: got %d in %d parts, want %d parts", size, c.Body.Len(), len(c.deadlines), parts)
		}
		for i, deadline := range c.deadlines {
			want := min(5*time.Second+time.Duration(c.taken[i]/8)*time.Second>>10, time.Minute)
			if got := deadline.Sub(began); got < want-took || got > want+took {
				t.Errorf("%d bytes taken: got %s, want %s", c.taken[i], got, want)
			}
		}
	}
}
