package v1_test

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const extensible = "x-extensible-enum"

func mustLoad(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(v1.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// walk calls visit once for each schema that is reachable from s, with its path. inline reports
// whether the schema is not a component.
func walk(
	at string, s *openapi3.SchemaRef, seen map[*openapi3.Schema]bool,
	visit func(at string, inline bool, s *openapi3.Schema),
) {
	if s == nil || seen[s.Value] {
		return
	}
	seen[s.Value] = true
	visit(at, s.Ref == "", s.Value)
	for name, property := range s.Value.Properties {
		walk(at+"."+name, property, seen, visit)
	}
	for i, part := range slices.Concat(s.Value.AllOf, s.Value.OneOf, s.Value.AnyOf) {
		walk(fmt.Sprintf("%s.%d", at, i), part, seen, visit)
	}
	walk(at+"[]", s.Value.Items, seen, visit)
	walk(at+".*", s.Value.AdditionalProperties.Schema, seen, visit)
}

// walkContent is walk for the bodies of a request or response.
func walkContent(
	at string, c openapi3.Content, seen map[*openapi3.Schema]bool, visit func(string, bool, *openapi3.Schema),
) {
	for _, body := range c {
		walk(at, body.Schema, seen, visit)
	}
}

// TestValuesHaveNames: generators make a constant of each value of a type, and its name of the
// letters of the value. A value without letters has a name in the contract.
func TestValuesHaveNames(t *testing.T) {
	t.Parallel()
	const names = "x-enum-varnames"
	found := false
	for at, s := range mustLoad(t).Components.Schemas {
		for _, value := range s.Value.Enum {
			if strings.ContainsAny(strings.ToLower(fmt.Sprint(value)), "abcdefghijklmnopqrstuvwxyz") {
				continue
			}
			given, _ := s.Value.Extensions[names].([]any)
			if found = true; len(given) != len(s.Value.Enum) {
				t.Errorf("%s: %q has no name: %s has %d of %d names", at, value, names, len(given), len(s.Value.Enum))
			}
		}
	}
	if !found {
		t.Error("no such value")
	}
}

// TestValuesOfResponsesAreOpen: generators make a closed type of an enum, which fails at a new
// value. So responses have none. Requests have no open list, because the service refuses other
// values.
func TestValuesOfResponsesAreOpen(t *testing.T) {
	t.Parallel()
	sent, got := map[*openapi3.Schema]bool{}, map[*openapi3.Schema]bool{}
	open := 0
	eachOperation(mustLoad(t), func(at string, op *openapi3.Operation) {
		isClosed := func(at string, _ bool, s *openapi3.Schema) {
			if s.Extensions[extensible] != nil {
				t.Errorf("%s: a request has an open list of values", at)
			}
		}
		isOpen := func(at string, _ bool, s *openapi3.Schema) {
			if len(s.Enum) > 0 {
				t.Errorf("%s: a response has a closed list of values: %v", at, s.Enum)
			}
			if s.Extensions[extensible] != nil {
				open++
			}
		}
		for _, p := range op.Parameters {
			walk(at+"?"+p.Value.Name, p.Value.Schema, sent, isClosed)
		}
		if op.RequestBody != nil {
			walkContent(at, op.RequestBody.Value.Content, sent, isClosed)
		}
		for status, r := range op.Responses.Map() {
			walkContent(at+" "+status, r.Value.Content, got, isOpen)
			for name, h := range r.Value.Headers {
				s := h.Value.Schema.Value
				flag := len(s.Enum) == 1 && s.Enum[0] == "true" // its absence is the other value
				if len(s.Enum) > 0 && !flag || strings.Contains(s.Pattern, "|") {
					t.Errorf("%s %s: the field %s has a closed list of values", at, status, name)
				}
			}
		}
	})
	if open < 30 {
		t.Errorf("got %d open lists, want more", open)
	}
}

// bytesAbove matches an escape of a character above U+007F.
var bytesAbove = regexp.MustCompile(`\\x[89a-f]|\\u`)

// TestPatternsAreASCII: some generated clients match the bytes of UTF-8 by a pattern. They refuse
// letters by a pattern that names a character above U+007F, or do not compile.
func TestPatternsAreASCII(t *testing.T) {
	t.Parallel()
	patterns := 0
	for name, s := range mustLoad(t).Components.Schemas {
		walk(name, s, map[*openapi3.Schema]bool{}, func(at string, _ bool, s *openapi3.Schema) {
			if s.Pattern != "" {
				patterns++
			}
			if bytesAbove.MatchString(strings.ToLower(s.Pattern)) {
				t.Errorf("%s: pattern %s", at, s.Pattern)
			}
		})
	}
	if patterns == 0 {
		t.Error("no pattern")
	}
}

// TestFlagsHaveNoDefault: a generated client sends the default of a query parameter, and some write
// a boolean as 0.
func TestFlagsHaveNoDefault(t *testing.T) {
	t.Parallel()
	flags := 0
	eachOperation(mustLoad(t), func(at string, op *openapi3.Operation) {
		for _, p := range op.Parameters {
			s := p.Value.Schema.Value
			if !s.Type.Is(openapi3.TypeBoolean) {
				continue
			}
			if flags++; s.Default != nil {
				t.Errorf("%s?%s: default %v", at, p.Value.Name, s.Default)
			}
		}
	})
	if flags == 0 {
		t.Error("no flag")
	}
}

// TestOpenAndClosedValuesAreEqual: a value that a request accepts has an open list in a response.
func TestOpenAndClosedValuesAreEqual(t *testing.T) {
	t.Parallel()
	doc := mustLoad(t)
	compared := 0
	for name, s := range doc.Components.Schemas {
		walk(name, s, map[*openapi3.Schema]bool{}, func(at string, _ bool, s *openapi3.Schema) {
			of, _ := s.Extensions["x-go-type"].(string)
			if closed := doc.Components.Schemas[of]; s.Extensions[extensible] != nil && closed != nil {
				compared++
				if got, want := s.Extensions[extensible], closed.Value.Enum; !reflect.DeepEqual(got, any(want)) {
					t.Errorf("%s: got %v, want %v as %s", at, got, want, of)
				}
			}
		})
	}
	if compared == 0 {
		t.Error("no list was compared")
	}
}

// TestInlineObjectsHaveTitles: generators name an object by its title, or else by a number.
func TestInlineObjectsHaveTitles(t *testing.T) {
	t.Parallel()
	seen := map[*openapi3.Schema]bool{}
	visit := func(at string, inline bool, s *openapi3.Schema) {
		if inline && s.Type.Is("object") && s.Title == "" {
			t.Errorf("%s: an object has neither a name nor a title", at)
		}
	}
	doc := mustLoad(t)
	for name, s := range doc.Components.Schemas {
		seen[s.Value] = true
		for property, of := range s.Value.Properties {
			walk(name+"."+property, of, seen, visit)
		}
		walk(name+"[]", s.Value.Items, seen, visit)
	}
	eachOperation(doc, func(at string, op *openapi3.Operation) {
		for status, r := range op.Responses.Map() {
			walkContent(at+" "+status, r.Value.Content, seen, visit)
		}
	})
}

// TestOperationsDeclareRefusals: generated clients decode only the declared responses.
func TestOperationsDeclareRefusals(t *testing.T) {
	t.Parallel()
	doc := mustLoad(t)
	eachOperation(doc, func(at string, op *openapi3.Operation) {
		for _, status := range []string{"4XX", "default"} {
			if op.Responses.Value(status) == nil {
				t.Errorf("%s: no response %s", at, status)
			}
		}
		if op.Summary == "" || op.Description == "" || len(op.Tags) != 1 {
			t.Errorf("%s: want a summary, a description and a tag", at)
		}
	})
	for at, want := range map[string]string{
		"/v1/transactions": "Decline", "/v1/transactions/{id}/confirm": "ConfirmationDecline",
	} {
		decline := doc.Paths.Find(at).GetOperation(http.MethodPost).Responses.Value("402")
		if decline == nil || decline.Ref != "#/components/responses/"+want {
			t.Errorf("%s: a decline is not declared", at)
		}
	}
	if doc.Info.License == nil || doc.Info.Contact == nil {
		t.Error("the contract has no license or no contact")
	}
}

// eachOperation calls visit for each operation, with its name, in the order of the names.
func eachOperation(doc *openapi3.T, visit func(at string, op *openapi3.Operation)) {
	all := map[string]*openapi3.Operation{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			all[method+" "+path] = op
		}
	}
	for _, at := range slices.Sorted(maps.Keys(all)) {
		visit(at, all[at])
	}
}

// TestEachEventTypeHasASchema: the body of a delivery is described for each type of event. The type
// is closed in each schema: generated clients refuse an event that fits several.
func TestEachEventTypeHasASchema(t *testing.T) {
	t.Parallel()
	doc := mustLoad(t)
	events := doc.Components.Schemas["WebhookEvent"].Value
	for _, kind := range doc.Components.Schemas["EventType"].Value.Enum {
		schema := events.Discriminator.Mapping[kind.(string)]
		i := slices.IndexFunc(events.OneOf, func(s *openapi3.SchemaRef) bool { return s.Ref == schema.Ref })
		if i < 0 {
			t.Errorf("%s: got the schema %q, want one of the alternatives", kind, schema.Ref)
			continue
		}
		got := events.OneOf[i].Value.AllOf[1].Value.Properties["type"].Value.Enum
		if want := []any{kind}; !slices.Equal(got, want) {
			t.Errorf("%s: got the type %v in %s", kind, got, schema.Ref)
		}
	}
	if got, want := len(events.OneOf), len(doc.Components.Schemas["EventType"].Value.Enum); got != want {
		t.Errorf("got %d schemas, want %d", got, want)
	}
}

// TestOnlyRequestsAreClosed: a generated client refuses a new field of an object without
// additionalProperties. So all objects of responses have it. The objects of requests are closed,
// because the service refuses other fields. They have no default: generated types would require the
// field.
func TestOnlyRequestsAreClosed(t *testing.T) {
	t.Parallel()
	doc := mustLoad(t)
	sent, got := map[*openapi3.Schema]bool{}, map[*openapi3.Schema]bool{}
	open, closed := 0, 0
	isClosed := func(at string, _ bool, s *openapi3.Schema) {
		if s.Default != nil {
			t.Errorf("%s: a field of a request has the default %v", at, s.Default)
		}
		if more := s.AdditionalProperties; s.Type.Is("object") && more.Schema == nil {
			closed++
			if more.Has == nil || *more.Has {
				t.Errorf("%s: an object of a request is open", at)
			}
		}
	}
	isOpen := func(at string, _ bool, s *openapi3.Schema) {
		whole := s.Type.Is("object") || len(s.AllOf) > 1
		if more := s.AdditionalProperties; whole && more.Schema == nil {
			open++
			if more.Has == nil || !*more.Has {
				t.Errorf("%s: an object of a response is closed", at)
			}
		}
	}
	eachOperation(doc, func(at string, op *openapi3.Operation) {
		if op.RequestBody != nil {
			walkContent(at, op.RequestBody.Value.Content, sent, isClosed)
		}
		for status, r := range op.Responses.Map() {
			walkContent(at+" "+status, r.Value.Content, got, isOpen)
		}
		for name, callback := range op.Callbacks {
			for _, item := range callback.Value.Map() {
				walkContent(at+" "+name, item.Post.RequestBody.Value.Content, got, isOpen)
			}
		}
	})
	if open < 100 || closed < 25 {
		t.Errorf("got %d open objects and %d closed ones, want more", open, closed)
	}
}

// TestNamesAreDistinct: generators make a type of each schema and of each security scheme.
func TestNamesAreDistinct(t *testing.T) {
	t.Parallel()
	doc, seen := mustLoad(t), map[string]string{}
	for _, name := range slices.Concat(
		slices.Collect(maps.Keys(doc.Components.Schemas)), slices.Collect(maps.Keys(doc.Components.SecuritySchemes)),
	) {
		key := strings.ToLower(strings.ReplaceAll(name, "_", ""))
		if other, taken := seen[key]; taken {
			t.Errorf("%s and %s get the same type", name, other)
		}
		seen[key] = name
	}
}
