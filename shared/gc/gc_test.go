package gc_test

import (
	"runtime/debug"
	"testing"

	"github.com/causeway-pay/causeway/shared/gc"
)

// Not parallel: the setting is the process's.
func TestRelax(t *testing.T) {
	for name, relax := range map[string]struct {
		by   func(func(string) string)
		want int
	}{
		"Relax":          {gc.Relax, 120},
		"RelaxStateless": {gc.RelaxStateless, 400},
	} {
		for env, want := range map[string]int{"": relax.want, "50": 100, "off": 100} {
			before := debug.SetGCPercent(100)
			relax.by(func(name string) string {
				if name != "GOGC" {
					t.Errorf("asked for %s", name)
				}
				return env
			})
			if got := debug.SetGCPercent(before); got != want {
				t.Errorf("%s with GOGC=%q: got %d, want %d", name, env, got, want)
			}
		}
	}
}
