package gc_test

import (
	"runtime/debug"
	"testing"

	"github.com/causeway-pay/causeway/shared/gc"
)

// Not parallel: the setting is the process's.
func TestRelax(t *testing.T) {
	for env, want := range map[string]int{"": 150, "50": 100, "off": 100} {
		before := debug.SetGCPercent(100)
		gc.Relax(func(name string) string {
			if name != "GOGC" {
				t.Errorf("asked for %s", name)
			}
			return env
		})
		if got := debug.SetGCPercent(before); got != want {
			t.Errorf("GOGC=%q: got %d, want %d", env, got, want)
		}
	}
}
