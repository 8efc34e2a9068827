package on_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestUnitsNeverGiveUp checks that systemd restarts each program until it runs. While PostgreSQL is
// down, a program exits immediately after each start, and a failover can last 35 s.
func TestUnitsNeverGiveUp(t *testing.T) {
	t.Parallel()
	units, err := filepath.Glob(filepath.Join(root, "deploy/on/systemd/causeway*.service"))
	if err != nil || len(units) == 0 {
		t.Fatalf("units: %v, %v", units, err)
	}
	for _, path := range units {
		name := filepath.Base(path)
		lines := strings.Split(string(mustRead(t, "deploy/on/systemd/"+name)), "\n")
		restart := "Restart=on-failure"
		if name == "causeway-envoy.service" { // its administration can end it with the exit code 0
			restart = "Restart=always"
		}
		if !slices.Contains(lines, "StartLimitIntervalSec=0") || !slices.Contains(lines, restart) {
			t.Errorf("%s: systemd stops restarting it", name)
		}
		checkRestartPause(t, name, lines)
	}
}

// checkRestartPause checks that a program that fails at each start does not keep the machine busy.
func checkRestartPause(t *testing.T, name string, lines []string) {
	t.Helper()
	for _, line := range lines {
		value, ok := strings.CutPrefix(line, "RestartSec=")
		if !ok {
			continue
		}
		if pause, err := time.ParseDuration(value); err != nil || pause < 2*time.Second || pause > 5*time.Second {
			t.Errorf("%s restarts after %s, want 2 to 5 s: %v", name, value, err)
		}
		return
	}
	t.Errorf("%s has no RestartSec", name)
}
