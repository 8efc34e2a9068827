package providerb_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
)

// TestComparedFieldsAreListed: docs/requests.md lists the fields by which two requests under one
// Idempotency-Key are compared.
func TestComparedFieldsAreListed(t *testing.T) {
	t.Parallel()
	_, list, found := strings.Cut(string(goldentest.MustRead(t, "../../docs/requests.md")), "\nprovider-b: ")
	list, _, ended := strings.Cut(list, "\n```")
	if !found || !ended {
		t.Fatal("docs/requests.md has no list")
	}
	var want []string
	for f := range reflect.TypeFor[wire.Request]().Fields() {
		want = append(want, f.Tag.Get("json"))
	}
	if got := strings.Fields(list); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got the list %v, want %v", got, want)
	}
}
