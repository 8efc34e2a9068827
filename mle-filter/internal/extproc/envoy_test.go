package extproc_test

import (
	"net/http"
	"os"
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
)

// TestEnvoyCases runs the cases of the engine through a real Envoy.
func TestEnvoyCases(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	envoy := startEnvoy(t, listener{Name: "mle", Socket: serve(t, processor(t, w.Engine(t), nil)), Timeout: "10s"})
	for name, by := range map[string]*http.Transport{"HTTP1": h1, "HTTP2": h2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			enginetest.Run(t, w, func(t *testing.T, r enginetest.Request, reply enginetest.Reply) enginetest.Outcome {
				t.Helper()
				r.Fields = append(slices.Clone(r.Fields), enginetest.Field{Name: "X-Level", Value: "optional"})
				if r.Caller != "" {
					r.Fields = append(r.Fields, enginetest.Field{Name: callerField, Value: r.Caller})
				}
				return envoy.send(t, by, "mle", r, reply)
			})
		})
	}
	t.Cleanup(func() {
		if log, err := os.ReadFile(envoy.log); err != nil || len(log) > 0 {
			t.Logf("Envoy's log: %s %v", log, err)
		}
	})
}
