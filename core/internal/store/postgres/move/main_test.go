package move_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest"
)

func TestMain(m *testing.M) {
	if source := os.Getenv(childSource); source != "" {
		if err := child(source, os.Getenv(childTarget)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	pgtest.Main(m)
}
