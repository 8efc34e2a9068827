package wire_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

// TestSchemaTable checks all types of the table. A sequence must not have a name twice, else the
// walk would not be deterministic. The bounds must be valid.
func TestSchemaTable(t *testing.T) {
	t.Parallel()
	for _, name := range wire.Methods() {
		checkShape(t, name, wire.MethodShape(name))
	}
}

func checkShape(t *testing.T, path string, s wire.Shape) {
	t.Helper()
	var seen []string
	for _, p := range s.Positions {
		if p.Min < 0 || p.Min > 1 || p.Max < 1 {
			t.Errorf("%s: %v occurs %d to %d times", path, p.Names, p.Min, p.Max)
		}
		for i, name := range p.Names {
			if slices.Contains(seen, name) {
				t.Errorf("%s/%s occurs twice", path, name)
			}
			seen = append(seen, name)
			checkShape(t, path+"/"+name, p.Shapes[i])
		}
	}
	if s.Simple && s.Most >= 0 && s.Least > s.Most {
		t.Errorf("%s: length %d to %d", path, s.Least, s.Most)
	}
}

// TestTransactionRequestOrder compares the table with the contract's list.
func TestTransactionRequestOrder(t *testing.T) {
	t.Parallel()
	shape := wire.MethodShape("createTransactionRequest")
	last := shape.Positions[len(shape.Positions)-1]
	var got []string
	for _, p := range last.Shapes[0].Positions {
		got = append(got, p.Names...)
	}
	want := append([]string{"transactionType"}, strings.Split(afterType, ", ")...)
	if !slices.Equal(got, want) || len(want) != 36 {
		t.Errorf("\n got %v\nwant %v", got, want)
	}
}
