package store_test

import (
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestCompileRefuses: Compile refuses SQL that is not for exactly the store's statements.
func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	_, err := store.Compile(
		map[string]string{"insertMerchant": "a", "more": "b"}, map[string]string{"insertMerchant": "c"})
	if err == nil {
		t.Fatal("got SQL that is incomplete")
	}
	for _, want := range []string{
		"the statement more is not declared", "the statement insertMerchant has two texts",
		"the statement lockMerchant has no text",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to contain %q", err, want)
		}
	}
}
