package panics_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/panics"
)

func fail() error { panic("4242424242424242") }

// TestCatch: a panic is an error that names its place, and has no value.
func TestCatch(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	if err := panics.Catch(func() error { return failed }); !errors.Is(err, failed) {
		t.Errorf("got %v, want %v", err, failed)
	}
	err := panics.Catch(fail)
	caught, ok := errors.AsType[*panics.Error](err)
	if !ok || caught.Type != "string" || !strings.Contains(caught.Stack[0], "panics_test.fail:") {
		t.Fatalf("got %+v", err)
	}
	if strings.Contains(err.Error(), "4242") {
		t.Errorf("the error has the value: %v", err)
	}
}
