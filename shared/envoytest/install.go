package envoytest

import (
	"testing"

	"github.com/causeway-pay/causeway/shared/envoytest/install"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// Install returns the program of the Envoy that the tests are for, which it installs once.
func Install(tb testing.TB) string {
	tb.Helper()
	program, err := install.Envoy(tb.Context(), programtest.MustRoot(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return program
}
