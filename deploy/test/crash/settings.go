package crash

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Seed returns CAUSEWAY_CRASH_SEED, or a random seed.
func Seed(tb testing.TB) uint64 {
	tb.Helper()
	return programtest.Number(tb, "CAUSEWAY_CRASH_SEED", rand.Uint64()) //nolint:gosec // to repeat a run, not to hide it
}

// Rounds returns CAUSEWAY_CRASH_ROUNDS, or otherwise if it is not set.
func Rounds(tb testing.TB, otherwise int) int {
	tb.Helper()
	return int(programtest.Number(tb, "CAUSEWAY_CRASH_ROUNDS", uint64(otherwise))) //nolint:gosec // a small number
}

// disturbances configure a hostile acquirer: every fourth request meets one.
const disturbances = `
disturbances:
  - {kind: slow, share: 60, delay_ms: 150}
  - {kind: timeout_before, share: 40, delay_ms: 100}
  - {kind: timeout_after, share: 40, delay_ms: 100}
  - {kind: late, share: 40, delay_ms: 50, effect_ms: 700}
  - {kind: unavailable, share: 40}
  - {kind: not_found, share: 30}
`

var (
	longDelays   = regexp.MustCompile(`delay_ms: \d{4,}`)
	longEffects  = regexp.MustCompile(`effect_ms: \d{4,}`)
	refusedVoids = regexp.MustCompile(`(?m)^  - \{operation: void,.*\n`)
)

// Catalogues returns three versions of configs/simulator.yaml. In the quick version slow and lost
// responses take a tenth of a second. The calm version has no late effects and refuses no void,
// since only an operator can end a release that is always refused. The hostile version also has
// disturbances of all kinds.
func Catalogues(tb testing.TB) (quick, calm, hostile string) {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(programtest.MustRoot(tb), "configs", "simulator.yaml"))
	if err != nil {
		tb.Fatal(err)
	}
	quick = longDelays.ReplaceAllString(string(text), "delay_ms: 100")
	calm = refusedVoids.ReplaceAllString(longEffects.ReplaceAllString(quick, "effect_ms: 100"), "")
	return quick, calm, calm + disturbances
}

// QuickCatalogue writes the quick version, and returns its path.
func QuickCatalogue(tb testing.TB) (path string) {
	tb.Helper()
	quick, _, _ := Catalogues(tb)
	return writeCatalogue(tb, quick)
}

// HostileCatalogue writes the hostile version, and returns its path.
func HostileCatalogue(tb testing.TB) (path string) {
	tb.Helper()
	_, _, hostile := Catalogues(tb)
	return writeCatalogue(tb, hostile)
}

func writeCatalogue(tb testing.TB, text string) (path string) {
	tb.Helper()
	path = filepath.Join(tb.TempDir(), "simulator.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}
