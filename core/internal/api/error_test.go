package api_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/idempotency"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// statusesOf are the statuses of each type of error by the design.
func statusesOf() map[v1.ErrorType][]int {
	return map[v1.ErrorType][]int{
		v1.ErrorTypeAuthenticationError: {401},
		v1.ErrorTypePermissionError:     {403},
		v1.ErrorTypeInvalidRequestError: {400, 404, 405, 408, 409, 413, 415, 422},
		v1.ErrorTypeCardError:           {402},
		v1.ErrorTypeIdempotencyError:    {409, 422},
		v1.ErrorTypeRateLimitError:      {429},
		v1.ErrorTypeAPIError:            {500, 502, 503, 504},
	}
}

// TestSettlingRefusalsAreRefusals: core's table has the codes that settle an Idempotency-Key for a
// client, and each of them refuses the request itself.
func TestSettlingRefusalsAreRefusals(t *testing.T) {
	t.Parallel()
	for _, code := range v1.SettlingRefusals() {
		if e := api.Codes()[code]; e.Status/100 != 4 {
			t.Errorf("%s: got status %d, want a 4xx", code, e.Status)
		}
	}
}

// TestFreeingRefusalsSettleNothing: two codes of the table free an Idempotency-Key. Both are errors
// of the acquirer, and a later request with the key can succeed.
func TestFreeingRefusalsSettleNothing(t *testing.T) {
	t.Parallel()
	freeing := 0
	for code, e := range api.Codes() {
		if !v1.FreesKey(code) {
			continue
		}
		freeing++
		if e.Status/100 != 5 || slices.Contains(v1.SettlingRefusals(), code) {
			t.Errorf("%s: got status %d, want a 5xx that settles nothing", code, e.Status)
		}
	}
	if freeing != 2 {
		t.Errorf("got %d codes, want 2", freeing)
	}
}

func TestEveryCode(t *testing.T) {
	t.Parallel()
	uses := identifiers(t, ".")
	constants := constants(t, ".")
	refusals := fileConstants(t, "../payment", "refusal.go")
	engine := fileConstants(t, "../engine", "refusal.go") // acquirer_declined is a code of the engine
	for code, e := range api.Codes() {
		if !slices.Contains(statusesOf()[e.Type], e.Status) {
			t.Errorf("%s: %s does not go with %d", code, e.Type, e.Status)
		}
		if refusals[code] {
			continue // package payment has its own message
		}
		if e.Message == "" || !strings.HasSuffix(e.Message, ".") {
			t.Errorf("%s: the message is no sentence: %q", code, e.Message)
		}
		if name := constants[code]; uses[name] < 3 && !engine[code] { // its declaration, its line in the table, and at least one use
			t.Errorf("%s (%s): no response has it", code, name)
		}
	}
	for code := range maps.Keys(constants) {
		if _, ok := api.Codes()[code]; !ok {
			t.Errorf("%s is not in the table", code)
		}
	}
	for code := range maps.Keys(refusals) {
		if _, ok := api.Codes()[code]; !ok {
			t.Errorf("the refusal %s is not in the table", code)
		}
	}
	for code := range api.RetryAfter() {
		if _, ok := api.Codes()[code]; !ok {
			t.Errorf("the wait of %s is of no code", code)
		}
	}
}

// identifiers counts every name in the package's shipped files.
func identifiers(t *testing.T, dir string) map[string]int {
	t.Helper()
	count := map[string]int{}
	for _, f := range parse(t, dir) {
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				count[id.Name]++
			}
			return true
		})
	}
	return count
}

// constants maps the text of every code… constant to its name.
func constants(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, f := range parse(t, dir) {
		for name, text := range stringConstants(t, f) {
			if strings.HasPrefix(name, "code") {
				out[text] = name
			}
		}
	}
	return out
}

// fileConstants returns the set of texts of the string constants of one file.
func fileConstants(t *testing.T, dir, file string) map[string]bool {
	t.Helper()
	f, err := parser.ParseFile(gotoken.NewFileSet(), dir+"/"+file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, text := range stringConstants(t, f) {
		out[text] = true
	}
	return out
}

func stringConstants(t *testing.T, f *ast.File) map[string]string {
	t.Helper()
	out := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == gotoken.STRING {
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			out[spec.Names[0].Name] = text
		}
		return true
	})
	return out
}

func parse(t *testing.T, dir string) []*ast.File {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []*ast.File
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(gotoken.NewFileSet(), dir+"/"+e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

func TestEveryKnownErrorHasACode(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		engine.ErrKeyInUse, engine.ErrKeyReused, engine.ErrNoAcquirer, engine.ErrAcquirerUnavailable,
		payment.ErrNotFound, store.ErrBusy, store.ErrClosed, idempotency.ErrSeveral, idempotency.ErrInvalid,
		admission.ErrTooLarge, admission.ErrEncoding, admission.ErrSlow, admission.ErrUnfinished, admission.ErrOverloaded,
		payment.ErrTooManyKeys, payment.ErrTooManyLists, payment.ErrTooManyChanges, payment.ErrListTimeout,
	} {
		wrapped := fmt.Errorf("with context: %w", err)
		if got := api.FaultCode(wrapped); got == "internal_error" {
			t.Errorf("%v: got %s", err, got)
		}
	}
	for _, err := range []error{errors.New("anything else"), context.Canceled, store.ErrDuplicate, store.ErrConflict} {
		if got, want := api.FaultCode(err), "internal_error"; got != want {
			t.Errorf("%v: got %s, want %s", err, got, want)
		}
	}
}

func TestRoutesAreTheContract(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(v1.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for path, item := range doc.Paths.Map() {
		if strings.HasPrefix(path, "/v1/mle/") || strings.HasPrefix(path, "/v1/trust") {
			continue // mle-filter or the edge serves it
		}
		for method := range item.Operations() {
			want = append(want, method+" "+path)
		}
	}
	got := api.Routes()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}
