package wire_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

// TestFormatsAgree renders random valid requests in both formats. Either must parse to the same
// tree.
func TestFormatsAgree(t *testing.T) {
	t.Parallel()
	for _, name := range wire.Methods() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shape := wire.MethodShape(name)
			rapid.Check(t, func(t *rapid.T) {
				want := drawTree(t, name, shape)
				indent := rapid.SampledFrom([]string{"", "\n\t", "<!-- c -->", " "}).Draw(t, "indent")
				agree(t, want, want.xml(indent), wire.XML)
				agree(t, want, want.json(func() bool { return rapid.Bool().Draw(t, "notation") }), wire.JSON)
			})
		})
	}
}

// testOrProperty is the common part of testing.TB and rapid.TB.
type testOrProperty interface {
	Helper()
	Fatalf(format string, args ...any)
}

func agree(t testOrProperty, want *tree, body string, f wire.Format) {
	t.Helper()
	req, fault := wire.Parse([]byte(body), wire.Options{})
	if fault != nil {
		t.Fatalf("%s: %s %s\n%s", f, fault.Code, fault.Text, body)
	}
	if got := fromNode(req.Root).String(); got != want.String() || req.Format != f {
		t.Fatalf("%s\n got %s\nwant %s\nbody %s", f, got, want, body)
	}
}

// TestOrderIsTheOnlyLenience shuffles the children of random valid requests. Lenient order accepts
// every one of them.
func TestOrderIsTheOnlyLenience(t *testing.T) {
	t.Parallel()
	shape := wire.MethodShape("createTransactionRequest")
	rapid.Check(t, func(t *rapid.T) {
		want := drawTree(t, "createTransactionRequest", shape)
		seed := rapid.Uint64().Draw(t, "seed")
		shuffle(want, rand.New(rand.NewPCG(seed, 1)))
		req, fault := wire.Parse([]byte(want.xml("")), wire.Options{LenientOrder: true})
		if fault != nil {
			t.Fatalf("%s", fault.Text)
		}
		if got := fromNode(req.Root).String(); got != want.String() {
			t.Fatalf("got %s\nwant %s", got, want)
		}
	})
}

func shuffle(t *tree, r *rand.Rand) {
	r.Shuffle(len(t.children), func(i, j int) { t.children[i], t.children[j] = t.children[j], t.children[i] })
	for _, c := range t.children {
		shuffle(c, r)
	}
}
