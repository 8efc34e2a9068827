package engine_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

func TestMain(m *testing.M) {
	// The histories that models check cost minutes on a server. A soak runs all 100 of each.
	if os.Getenv("CAUSEWAY_TEST_STORE") == "postgres" && !programtest.Soak() {
		if err := flag.Set("rapid.checks", "10"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	coretest.Main(m)
}
