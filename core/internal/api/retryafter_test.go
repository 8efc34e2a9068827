package api_test

import (
	"go/ast"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/api"
)

// TestRefusalsHaveRetryAfter: each code of a 429 has Retry-After, and each code of a 503 that a
// later retry can pass. Without an account, only the operator can help.
func TestRefusalsHaveRetryAfter(t *testing.T) {
	t.Parallel()
	names := constants(t, ".")
	for code, e := range api.Codes() {
		got := api.Refused(code).Get("Retry-After")
		switch {
		case code == "acquirer_not_configured":
			if got != "" {
				t.Errorf("%s: got Retry-After %q", code, got)
			}
		case e.Status != 429 && e.Status != 503, got != "":
		default:
			for _, literal := range faults(t, names[code]) {
				if !slices.Contains(literal, "limit") { // which sets it
					t.Errorf("%s: a %d has no Retry-After: %v", code, e.Status, literal)
				}
			}
		}
	}
}

// faults returns the fields that each composite literal of a fault with a code sets.
func faults(t *testing.T, code string) (out [][]string) {
	t.Helper()
	for _, f := range parse(t, ".") {
		ast.Inspect(f, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if name, ok := literal.Type.(*ast.Ident); !ok || name.Name != "fault" {
				return true
			}
			var fields []string
			has := false
			for _, e := range literal.Elts {
				pair := e.(*ast.KeyValueExpr)
				fields = append(fields, pair.Key.(*ast.Ident).Name)
				if value, ok := pair.Value.(*ast.Ident); ok && value.Name == code {
					has = true
				}
			}
			if has {
				out = append(out, fields)
			}
			return true
		})
	}
	if out == nil {
		t.Errorf("no fault has %s", code)
	}
	return out
}

// TestOneFunctionWritesRefusals: only write sends a status, and of its callers only refuse, respond
// and health send another one than 200. The results that respond sends have the codes of the table.
func TestOneFunctionWritesRefusals(t *testing.T) {
	t.Parallel()
	var sent, refuse []string
	for _, f := range parse(t, ".") {
		for _, d := range f.Decls {
			function, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(function, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				called, ok := call.Fun.(*ast.SelectorExpr)
				switch {
				case !ok:
				case called.Sel.Name == "WriteHeader" || called.Sel.Name == "Error" && len(call.Args) == 3:
					sent = append(sent, function.Name.Name)
				case called.Sel.Name == "write" && len(call.Args) == 4 && !isOK(call.Args[2]):
					refuse = append(refuse, function.Name.Name)
				}
				return true
			})
		}
	}
	slices.Sort(refuse)
	if got := strings.Join(sent, " "); got != "write" {
		t.Errorf("got %s, want only write to send a status", got)
	}
	if got := strings.Join(refuse, " "); got != "health refuse respond" {
		t.Errorf("got %s, want no other caller of write to send a status", got)
	}
}

// isOK reports whether an expression is http.StatusOK.
func isOK(e ast.Expr) bool {
	selected, ok := e.(*ast.SelectorExpr)
	return ok && selected.Sel.Name == "StatusOK"
}
