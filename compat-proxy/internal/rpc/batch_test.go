package rpc_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/rpc"
)

// TestLongBatches is not parallel, because it measures memory. A batch is refused before its calls
// take memory.
func TestLongBatches(t *testing.T) {
	h := &rpc.Handler{MaxBytes: 256 << 10}
	for calls, want := range map[int]string{17: "1 to 16 calls", 10_000: "1 to 16 calls", 131_000: "than 10000 values"} {
		body := "[0" + strings.Repeat(",0", calls-1) + "]"
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		w := httptest.NewRecorder()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		h.ServeHTTP(w, r)
		runtime.ReadMemStats(&after)
		if got := w.Body.String(); !strings.Contains(got, want) {
			t.Errorf("%d calls: got %s, want %q", calls, got, want)
		}
		// The body is read in buffers of growing size.
		if used, most := after.TotalAlloc-before.TotalAlloc, uint64(3*len(body)+64<<10); used > most {
			t.Errorf("%d calls: got %d KiB, want at most %d KiB", calls, used>>10, most>>10)
		}
	}
}

// longResults is a dialect whose results are long.
type longResults struct{ calls int }

// Call implements rpc.Dialect.
func (d *longResults) Call(context.Context, string, jsontext.Value, rpc.Origin) (jsontext.Value, error) {
	d.calls++
	return jsontext.Value(`"` + strings.Repeat("a", 300<<10) + `"`), nil
}

// TestLongResults: after 1 MiB of results, the further calls of a batch are refused and not
// executed.
func TestLongResults(t *testing.T) {
	t.Parallel()
	d := &longResults{}
	h := &rpc.Handler{MaxBytes: 256 << 10, Methods: map[string]rpc.Method{"a.b": {Dialect: d, Name: "b"}}}
	const call = `{"jsonrpc":"2.0","id":1,"method":"a.b","params":{}}`
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/",
		strings.NewReader("["+call+strings.Repeat(","+call, 15)+"]"))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if got := strings.Count(w.Body.String(), "-32002"); d.calls != 4 || got != 12 {
		t.Errorf("got %d calls executed and %d refused, want 4 and 12", d.calls, got)
	}
}
