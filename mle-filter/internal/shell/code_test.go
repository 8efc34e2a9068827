package shell

import (
	"slices"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestCodesAreDocumented checks that /docs lists each code that a client can receive: core proves
// it of v1.FrontCodes.
func TestCodesAreDocumented(t *testing.T) {
	t.Parallel()
	for code := range problems {
		if code != CodeClientGone && !slices.Contains(v1.FrontCodes(), code) {
			t.Errorf("%s is not documented", code)
		}
	}
}
