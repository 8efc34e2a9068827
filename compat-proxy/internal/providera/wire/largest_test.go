package wire_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

// TestLargestDocuments: a document has each element of the schema as often as is legal, and white
// space between its elements. It stays below the bound of nodes.
func TestLargestDocuments(t *testing.T) {
	t.Parallel()
	for _, name := range wire.Methods() {
		shape := wire.MethodShape(name)
		largest := rapid.Custom(func(t *rapid.T) *tree { return largestTree(t, name, shape) }).Example(1)
		t.Logf("%s: %d elements", name, largest.measure())
		agree(t, largest, largest.xml("\n  "), wire.XML)
		agree(t, largest, largest.json(func() bool { return false }), wire.JSON)
	}
}

// legal are the greatest numbers of elements that the schema itself does not bound.
var legal = map[string]int{"lineItem": 30, "paymentProfiles": 10, "shipToList": 1}

// largestTree returns a valid request with each element as often as possible.
func largestTree(t *rapid.T, name string, s wire.Shape) *tree {
	n := &tree{name: name}
	switch {
	case s.Any:
		n.text = "any"
	case s.Simple:
		n.text = drawText(t, s)
	}
	for _, p := range s.Positions {
		most := p.Max
		if bound, ok := legal[p.Names[0]]; ok {
			most = bound
		}
		for range most {
			var child *tree
			for i := range p.Names { // the largest choice
				if c := largestTree(t, p.Names[i], p.Shapes[i]); child == nil || c.measure() > child.measure() {
					child = c
				}
			}
			n.children = append(n.children, child)
		}
	}
	return n
}
