//go:build unix

package fleet

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// Main is TestMain for a package that uses this one, and pgtest with it: it removes what Binaries built, and stops the server.
func Main(m *testing.M) {
	code := pgtest.Run(m)
	if built.folder != "" {
		if err := os.RemoveAll(built.folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// built are the programs of this test program.
var built struct {
	once   sync.Once
	folder string
	err    error
}

// Binaries is the folder of core, mle-filter and compat-proxy as they are in this tree, built when it is first asked for.
func Binaries(tb testing.TB) string {
	tb.Helper()
	built.once.Do(func() {
		if built.folder, built.err = os.MkdirTemp("", "fleet"); built.err == nil { //nolint:usetesting // it is for all tests
			const ours = "github.com/causeway-pay/causeway/"
			built.err = programtest.Build(context.Background(), built.folder, ours+"core/cmd/core", ours+"mle-filter/cmd/mle-filter", ours+"compat-proxy/cmd/compat-proxy")
		}
	})
	if built.err != nil {
		tb.Fatal(built.err)
	}
	return built.folder
}
