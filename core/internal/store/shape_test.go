package store_test

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/coretest"
)

// source is the source of the store: the statements by the names of their variables, and the calls
// that run them.
type source struct {
	statements map[string]string
	lists      map[string]string // of declareList
	calls      []*ast.CallExpr
	positions  *gotoken.FileSet
}

func mustParse(t *testing.T) source {
	t.Helper()
	s := source{statements: map[string]string{}, lists: map[string]string{}, positions: gotoken.NewFileSet()}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(s.positions, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, s.note)
	}
	return s
}

// note records a declaration of a statement, or a call.
func (s *source) note(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ValueSpec:
		for i, v := range n.Values {
			call, _ := v.(*ast.CallExpr)
			if call == nil || len(call.Args) != 1 {
				continue
			}
			of, _ := call.Fun.(*ast.Ident)
			literal, _ := call.Args[0].(*ast.BasicLit)
			if of == nil || literal == nil {
				continue
			}
			name, _ := strconv.Unquote(literal.Value)
			switch of.Name {
			case "declare":
				s.statements[n.Names[i].Name] = name
			case "declareList":
				s.lists[n.Names[i].Name] = name
			}
		}
	case *ast.CallExpr:
		s.calls = append(s.calls, n)
	}
	return true
}

// arguments returns the statement that a call runs, and how many arguments it passes to that. ok is
// false if it runs none, or does not name it or all arguments.
func (s *source) arguments(call *ast.CallExpr) (name string, n int, ok bool) {
	function := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		function = f.Name
	case *ast.SelectorExpr:
		function = f.Sel.Name
	}
	if call.Ellipsis.IsValid() {
		return "", 0, false
	}
	others, known := map[string]int{ // the parameters of functions behind the statement that are not its arguments
		"exec": 0, "execCount": 0, "execOne": 0, "insert": 0, "overwrite": 0, "row": 0,
		"backgroundRow": 0, "numbers": 0, "lease": 0,
		"InsertNumbered": 0, "LockRow": 0, "each": 1, "backgroundRows": 1, "find": 1, "listed": 1, "list": 2,
	}[function]
	if !known {
		return "", 0, false
	}
	for i, arg := range call.Args {
		v, _ := arg.(*ast.Ident)
		if v == nil {
			continue
		}
		n = len(call.Args) - i - 1 - others
		if name, ok = s.statements[v.Name]; ok {
			return name, n, true
		}
		if name, ok = s.lists[v.Name]; ok {
			return name, n + 2, true // the cursor and the limit
		}
	}
	return "", 0, false
}

// TestCallsPassAllArguments compares the arguments of the calls in the store with the parameters of
// the statements. The tests of the engines compare these with the SQL.
func TestCallsPassAllArguments(t *testing.T) {
	t.Parallel()
	shapes := coretest.ReadShapes(t, "testdata/statements")
	s := mustParse(t)
	checked := map[string]bool{}
	for _, call := range s.calls {
		name, n, ok := s.arguments(call)
		if !ok {
			continue
		}
		checked[name] = true
		if want := shapes[name][0]; n != want {
			t.Errorf("%s: %s gets %d arguments, and has %d parameters", s.positions.Position(call.Pos()), name, n, want)
		}
	}
	if len(checked) < len(shapes)/2 {
		t.Errorf("got calls of %d statements, of %d", len(checked), len(shapes))
	}
}
