//go:build unix

package fleet

import (
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Binaries returns the folder of core, mle-filter and compat-proxy as they are in this tree.
func Binaries(tb testing.TB) string {
	tb.Helper()
	return programtest.MustPrograms(tb, "core", "mle-filter", "compat-proxy")
}
