package providera_test

import (
	"context"
	"reflect"
	"runtime"
	"testing"
	"weak"

	"github.com/beevik/etree"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/secret"
)

// freed is a v1 that checks whether the tree of the request is still in memory.
type freed struct {
	instant

	tree  weak.Pointer[etree.Element]
	calls int
	kept  bool
}

func (f *freed) Execute(ctx context.Context, key secret.String, c command.Command) command.Result {
	runtime.GC()
	f.calls++
	f.kept = f.kept || f.tree.Value() != nil
	return f.instant.Execute(ctx, key, c)
}

// TestTreeIsFreed: while v1 is awaited, the tree of the request is not in memory.
func TestTreeIsFreed(t *testing.T) {
	t.Parallel()
	const login = `"merchantAuthentication":{"name":"me","transactionKey":"key"},"refId":"r"`
	for _, body := range []string{
		`{"createTransactionRequest":{` + login + `,"transactionRequest":{"transactionType":"authOnlyTransaction",` +
			`"amount":1,` + fullCard + `}}}`,
		`{"createCustomerProfileRequest":{` + login + `,"profile":{"email":"ana@example.org"}}}`,
	} {
		req, fault := wire.Parse([]byte(body), wire.Options{})
		if fault != nil {
			t.Fatal(fault.Text)
		}
		f := &freed{tree: weak.Make(element(req.Root))}
		mustHandler(t, f).Serve(t.Context(), req, everyScope...)
		if f.calls == 0 || f.kept {
			t.Errorf("%s: %d calls, tree kept: %t", req.Method, f.calls, f.kept)
		}
		runtime.KeepAlive(req)
	}
}

// element returns the etree element that a node hides.
func element(n wire.Node) *etree.Element {
	return (*etree.Element)(reflect.ValueOf(n).Field(0).UnsafePointer())
}
