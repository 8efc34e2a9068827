package main_test

import (
	"strings"
	"testing"

	main "github.com/causeway-pay/causeway/deploy/bench/cmd/bench"
)

func TestFlags(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"help":          {[]string{"--help"}, 0, "Exit codes"},
		"unknown flag":  {[]string{"--fast"}, 2, "fast"},
		"stray word":    {[]string{"P1"}, 2, "unexpected argument"},
		"unknown row":   {[]string{"-only", "P0"}, 1, "P0"},
		"no rounds":     {[]string{"-rounds", "0"}, 1, "rounds"},
		"few rows":      {[]string{"-only", "P10", "-rows", "100"}, 1, "rows"},
		"negative time": {[]string{"-seconds", "-1"}, 1, "seconds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			if got := main.Run(t.Context(), c.args, &out, &out); got != c.code {
				t.Errorf("exit code: got %d, want %d", got, c.code)
			}
			if !strings.Contains(out.String(), c.says) {
				t.Errorf("got %q, want something about %q", out.String(), c.says)
			}
		})
	}
}
