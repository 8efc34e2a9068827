package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestParametersAtTheirBounds is TestBodiesAtTheirBounds for the query string and for
// Idempotency-Key.
func TestParametersAtTheirBounds(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(v1.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	b := setup(t)
	txn := b.MustCreate(t, 100, "").ID
	ids := map[string]string{
		"/v1/transactions/": txn, "/v1/customers/": b.mustCustomer(t), "/v1/webhook_endpoints/": b.mustEndpoint(t),
		"/v1/api_keys/": MustDecode[v1.APIKey](t, b.post(t, "/v1/api_keys", `{"kind":"secret"}`), 201).ID,
	}
	tried := 0
	for path, item := range doc.Paths.Map() {
		for prefix, id := range ids {
			if strings.HasPrefix(path, prefix) {
				path = strings.Replace(path, "{id}", id, 1)
			}
		}
		for method, op := range item.Operations() {
			for _, ref := range op.Parameters {
				if p := ref.Value; p.In == openapi3.ParameterInQuery && !elsewhere(path) {
					tried += b.probeQuery(t, method, path, p)
				}
			}
		}
	}
	if tried < 100 {
		t.Errorf("tried %d values: the contract says more than that", tried)
	}
}

// probeQuery sends a parameter's values one by one, and returns how many.
func (b *bundle) probeQuery(t *testing.T, method, path string, p *openapi3.Parameter) int {
	t.Helper()
	list := slices.DeleteFunc(probes(p.Name, p.Schema.Value, false), func(p probe) bool {
		_, text := p.value.(string)
		return p.value == nil || !text && !p.allowed && strings.HasPrefix(p.what, "a number") // in a query string every value is a text
	})
	if len(list) == 0 { // an id: the contract gives it no bounds
		list = []probe{{p.Name, "no id", "nonsense", false}, {p.Name, "an empty id", "", false}}
	}
	for _, one := range list {
		value := fmt.Sprint(one.value)
		if p.Schema.Value.Type.Is("boolean") && !one.allowed {
			value = "yes"
		}
		if p.Schema.Value.Type.Is("integer") && one.what == "a text" {
			value = "seven"
		}
		sent := url.Values{p.Name: {value}}
		if p.Style == openapi3.SerializationDeepObject {
			sent = deepObject(p.Name, one)
		}
		a := b.do(t, method, path+"?"+sent.Encode(), "")
		switch {
		case one.allowed && a.status >= 400 && !slices.Contains(beyond, MustDecode[v1.ErrorBody](t, a, a.status).Error.Code):
			t.Errorf("%s %s?%s, %s: got %d %s, want it to be taken", method, path, p.Name, one.what, a.status, a.body)
		case !one.allowed:
			e := MustDecode[v1.ErrorBody](t, a, 400).Error
			if e.Param == nil || *e.Param != p.Name {
				t.Errorf("%s %s?%s, %s: got %s, want a refusal that names it", method, path, p.Name, one.what, a.body)
			}
		}
	}
	return len(list)
}

// deepObject returns the query string of a probe of an object: name[key]=value for each entry.
func deepObject(name string, p probe) url.Values {
	out := url.Values{}
	switch v := p.value.(type) {
	case map[string]any:
		for key, value := range v {
			out.Set(name+"["+key+"]", fmt.Sprint(value))
		}
	case string: // of one entry
		out.Set(strings.Replace(p.at, ".", "[", 1)+"]", v)
	default:
		out.Set(name, fmt.Sprint(v))
	}
	return out
}

func TestIdempotencyKeyAtItsBounds(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(v1.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	declared := doc.Components.Parameters["idempotency_key"].Value.Schema.Value
	b := setup(t)
	for _, p := range textProbes("Idempotency-Key", declared) {
		key := strings.ReplaceAll(p.value.(string), "é", "k")
		if p.what == "against the pattern" {
			key = "ü" // a header field can have it, unlike a control character
		}
		if a := b.post(t, "/v1/customers", "{}", keyed(key)); (a.status == http.StatusCreated) != p.allowed {
			t.Errorf("%s: got %d %s, allowed %t", p.what, a.status, a.body, p.allowed)
		}
		if a := b.get(t, "/v1/idempotency_keys/"+url.PathEscape(key)); p.allowed && a.status != http.StatusOK {
			t.Errorf("look-up of %s: got %d %s", p.what, a.status, a.body)
		}
	}
	// By the contract, every POST and PATCH accepts a key, and no other method.
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			want := method == http.MethodPost || method == http.MethodPatch
			if got := op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil; got != want {
				t.Errorf("%s %s takes an Idempotency-Key: got %t, want %t", method, path, got, want)
			}
			b.wantKeyAsDeclared(t, method, path, op)
		}
	}
}

// wantKeyAsDeclared compares the response to an operation without an Idempotency-Key with the
// declaration of the key: required or not.
func (b *bundle) wantKeyAsDeclared(t *testing.T, method, path string, op *openapi3.Operation) {
	t.Helper()
	declared, fresh := op.Parameters.GetByInAndName("header", "Idempotency-Key"), bodies[op.OperationID]
	if declared == nil || fresh == nil {
		return
	}
	where, body := fresh(t, b, probe{})
	sent, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	got := b.do(t, method, strings.Replace(path, "{id}", where, 1), string(sent))
	refused := got.status == http.StatusBadRequest && MustDecode[v1.ErrorBody](t, got, 400).Error.Code == "invalid_idempotency_key"
	if refused != declared.Required {
		t.Errorf("%s %s without an Idempotency-Key: got %d %s, declared as required: %t", method, path, got.status, got.body, declared.Required)
	}
}
