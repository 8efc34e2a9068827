package store_test

import (
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestCompileRefuses: Compile rejects SQL unless each statement of the store has exactly one text.
func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	_, err := store.Compile(
		map[string]string{"insertMerchant": "a", "more": "b"}, map[string]string{"insertMerchant": "c"})
	if err == nil {
		t.Fatal("got no error for incomplete SQL")
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
