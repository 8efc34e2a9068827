package api_test

import (
	"crypto/rand"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// probe puts one value at a place that the contract describes.
type probe struct {
	at      string // dotted path of the field
	what    string
	value   any
	allowed bool
}

// anyText is the pattern of a text that may have any characters except U+0000.
const anyText = `^[^\x00]*$`

// absent is the value of a field that is left out.
type absent struct{}

// probes returns the probes for a schema at a path: for each bound the last valid value and the
// first invalid one.
func probes(at string, s *openapi3.Schema, required bool) []probe {
	out := []probe{{at, "null", nil, false}}
	if required {
		out = append(out, probe{at, "left out", absent{}, false})
	}
	if s.Example != nil {
		out = append(out, probe{at, "the example", s.Example, true})
	}
	s = merged(s)
	switch {
	case s.Type.Is("string"):
		out = append(out, probe{at, "a number", 7, false})
		out = append(out, textProbes(at, s)...)
	case s.Type.Is("integer"):
		out = append(out, probe{at, "a text", "7", false}, probe{at, "a fraction", 7.5, false})
		if s.Min != nil {
			out = append(out, probe{at, "the least", int64(*s.Min), true}, probe{at, "less than the least", int64(*s.Min) - 1, false})
		}
		if s.Max != nil {
			out = append(out, probe{at, "the most", int64(*s.Max), true}, probe{at, "more than the most", int64(*s.Max) + 1, false})
		}
	case s.Type.Is("boolean"):
		out = append(out, probe{at, "true", true, true}, probe{at, "false", false, true}, probe{at, "a text", "true", false})
	case s.Type.Is("array"):
		out = append(out, probe{at, "no list", "x", false})
		out = append(out, listProbes(at, s)...)
	case s.Type.Is("object"):
		out = append(out, probe{at, "no object", []any{}, false})
		out = append(out, objectProbes(at, s)...)
	}
	return out
}

// merged returns a schema merged with its only allOf.
func merged(s *openapi3.Schema) *openapi3.Schema {
	if len(s.AllOf) == 0 {
		return s
	}
	out := *s.AllOf[0].Value
	if s.Min != nil {
		out.Min = s.Min
	}
	return &out
}

func textProbes(at string, s *openapi3.Schema) []probe {
	var out []probe
	if len(s.Enum) > 0 {
		for _, v := range s.Enum {
			out = append(out, probe{at, "a listed value", v, true})
		}
		return append(out, probe{at, "an unlisted value", "unlisted", false}, probe{at, "an empty value", "", false})
	}
	if s.Format == "date-time" {
		return append(out, probe{at, "a time", "2027-01-01T00:00:00.000Z", true}, probe{at, "no time", "tomorrow", false})
	}
	switch s.Pattern {
	case "":
	case anyText:
		out = append(out, probe{at, "with U+0000", "a\x00b", false}, probe{at, "with other characters", "\x01 é", true})
	default:
		out = append(out, patternProbes(at, s.Pattern)...)
	}
	if s.MinLength == 0 && (s.Pattern == "" || s.Pattern == anyText) {
		out = append(out, probe{at, "an empty text", "", true})
	}
	if s.MaxLength != nil {
		most := int(*s.MaxLength)
		out = append(out, probe{at, "the longest", textOf(at, s, most), true}, probe{at, "longer than the longest", textOf(at, s, most+1), false})
	}
	if s.MinLength > 0 {
		least := int(s.MinLength)
		out = append(out, probe{at, "the shortest", textOf(at, s, least), true}, probe{at, "shorter than the shortest", textOf(at, s, least-1), false})
	}
	return out
}

// patternProbes are texts that match a pattern, and texts that do not.
func patternProbes(at, pattern string) []probe {
	out := []probe{{at, "against the pattern", "\x01 é", false}}
	for _, text := range []string{"a\x1f", "a\x7f", "a\u0080", "a\u009f", "a\u00a0", "https://hooks.example.com/\x00"} {
		p := probe{at, "against the pattern", text, false}
		// A pattern that forbids control characters names the ones of ASCII: some clients match bytes.
		control := strings.Contains(pattern, `\x7f`) && strings.ContainsAny(text, "\u0080\u009f")
		if regexp.MustCompile(pattern).MatchString(text) && !control {
			p.what, p.allowed = "within the pattern", true
		}
		out = append(out, p)
	}
	if prefix := idPattern.FindStringSubmatch(pattern); prefix != nil {
		out = append(out, probe{at, "the least id", prefix[1] + "_0000000000000", true})
		out = append(out, probe{at, "the greatest id", prefix[1] + "_7zzzzzzzzzzzz", true})
	}
	return out
}

// idPattern matches the pattern of an id.
var idPattern = regexp.MustCompile(`^\^\(?([a-z]+).*_\[0-7\]`)

// textOf returns a text of n characters that is valid otherwise.
func textOf(at string, s *openapi3.Schema, length int) string {
	switch name := at[strings.LastIndex(at, ".")+1:]; {
	case at == "card.number" || at == "network_token.number":
		return checked(length)
	case name == "cvc" || name == "account_number":
		return strings.Repeat("1", length)
	case name == "url":
		const host = "https://hooks.example.com/"
		return host[:min(len(host), length)] + strings.Repeat("u", max(0, length-len(host)))
	case name == "version":
		return "2.22.2" + strings.Repeat("2", length-6)
	case s.Pattern != "" && s.Pattern != anyText:
		return strings.Repeat("1", length)
	}
	return strings.Repeat("é", length) // bounds count characters
}

// checked returns a number of n digits with a valid check digit.
func checked(length int) string {
	number := []byte("4" + strings.Repeat("0", max(length-1, 0)))[:length]
	for d := byte('0'); d <= '9' && length > 0; d++ {
		number[length-1] = d
		sum := 0
		for i := range length {
			n := int(number[length-1-i] - '0')
			if i%2 == 1 {
				n = n*2/10 + n*2%10
			}
			sum += n
		}
		if sum%10 == 0 {
			break
		}
	}
	return string(number)
}

func listProbes(at string, s *openapi3.Schema) []probe {
	var out []probe
	item := samples[at]
	if s.MinItems > 0 {
		out = append(out, probe{at, "too short", []any{}, false})
	}
	if s.MaxItems != nil {
		out = append(out, probe{at, "too long", slices.Repeat([]any{item}, int(*s.MaxItems)+1), false})
		if s.Items.Value.Type.Is("object") { // each of the others occurs once
			out = append(out, probe{at, "the longest", slices.Repeat([]any{item}, int(*s.MaxItems)), true})
		}
	}
	for _, p := range probes(at+".0", s.Items.Value, false) {
		if _, free := p.value.(string); !free || !p.allowed || len(s.Items.Value.Enum) > 0 || strings.Count(p.at, ".") > strings.Count(at, ".")+1 {
			out = append(out, p)
		}
	}
	return out
}

func objectProbes(at string, s *openapi3.Schema) []probe {
	var out []probe
	if s.AdditionalProperties.Has != nil && !*s.AdditionalProperties.Has {
		out = append(out, probe{join(at, "unheard_of"), "a field that is not there", 1, false})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		out = append(out, probes(join(at, name), s.Properties[name].Value, slices.Contains(s.Required, name))...)
	}
	if values := s.AdditionalProperties.Schema; values != nil {
		out = append(out, mapProbes(at, s, values.Value)...)
	}
	return out
}

// mapProbes are probes of an object whose names the client chooses.
func mapProbes(at string, s, values *openapi3.Schema) []probe {
	entries := func(n int) map[string]any {
		out := map[string]any{}
		for i := range n {
			out["k"+strconv.Itoa(i)] = "v"
		}
		return out
	}
	most := int(*s.MaxProps)
	out := []probe{{at, "as many entries as there may be", entries(most), true}, {at, "one entry more", entries(most + 1), false}}
	names, _ := s.Extensions["x-property-names"].(map[string]any)
	least, longest := int(names["minLength"].(float64)), int(names["maxLength"].(float64))
	for length, allowed := range map[int]bool{least: true, least - 1: false, longest: true, longest + 1: false} {
		out = append(out, probe{at, "a name of " + strconv.Itoa(length), map[string]any{strings.Repeat("é", length): "v"}, allowed})
	}
	return append(out, probes(at+".k", values, false)...)
}

func join(at, name string) string { return strings.TrimPrefix(at+"."+name, ".") }

// with sets a probe's value at its path in a body. Samples fill the missing levels.
func with(body map[string]any, at string, v any) {
	object, whole := body, strings.Split(at, ".")
	for i, name := range whole[:len(whole)-1] {
		if i+1 < len(whole) && whole[i+1] == "0" {
			object[name] = []any{object[name]}
			if i+2 == len(whole) {
				object[name] = []any{v}
				return
			}
			item := maps.Clone(samples[strings.Join(whole[:i+1], ".")].(map[string]any))
			object[name] = []any{item}
			with(item, strings.Join(whole[i+2:], "."), v)
			return
		}
		next, ok := object[name].(map[string]any)
		if !ok {
			sample, _ := samples[strings.Join(whole[:i+1], ".")].(map[string]any)
			next = map[string]any{}
			maps.Copy(next, sample)
			object[name] = next
		}
		object = next
	}
	last := whole[len(whole)-1]
	if _, ok := v.(absent); ok {
		delete(object, last)
		return
	}
	object[last] = v
}

// param returns the name of a field in an error. A value in a list of plain values has the name of
// the list.
func param(at string) []string { return []string{at, strings.TrimSuffix(at, ".0")} }

// elsewhere reports whether a path of the contract belongs to another program: mle-filter or the
// edge.
func elsewhere(path string) bool {
	return strings.HasPrefix(path, "/v1/mle/") || strings.HasPrefix(path, "/v1/trust")
}

// TestBodiesAtTheirBounds is made from the contract. For each bound of each field of each body it
// sends the last valid value and the first one beyond. Every refusal names the field.
func TestBodiesAtTheirBounds(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(v1.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.RequestBody == nil || elsewhere(path) {
				continue
			}
			fresh, ok := bodies[op.OperationID]
			if !ok {
				t.Errorf("%s has a body and no case here", op.OperationID)
				continue
			}
			list := objectProbes("", op.RequestBody.Value.Content["application/json"].Schema.Value)
			tried += len(list)
			t.Run(op.OperationID, func(t *testing.T) {
				t.Parallel()
				b := setup(t)
				for _, p := range list {
					b.probe(t, method, path, fresh, p)
				}
			})
		}
	}
	if tried < 500 {
		t.Errorf("tried %d values: the contract says more than that", tried)
	}
}

func (b *bundle) probe(t *testing.T, method, path string, fresh func(*testing.T, *bundle, probe) (string, map[string]any), p probe) {
	t.Helper()
	where, body := fresh(t, b, p)
	with(body, p.at, p.value)
	sent, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"/payment_methods/{payment_method}", "/shipping_addresses/{shipping_address}"} {
		path = strings.TrimSuffix(path, part) // where has both ids
	}
	path = strings.Replace(path, "{id}", where, 1)
	a := b.do(t, method, path, string(sent), keyed(rand.Text()))
	b.tidy(t, path, a)
	var e v1.ErrorBody
	if a.status >= 400 {
		e = MustDecode[v1.ErrorBody](t, a, a.status)
	}
	named := e.Error.Param != nil && slices.Contains(param(p.at), *e.Error.Param)
	taken := a.status < 400 || a.status == http.StatusPaymentRequired
	within := taken || named && slices.Contains(beyond, e.Error.Code)
	switch {
	case p.allowed && !within:
		t.Errorf("%s, %s: got %d %s, want it to be taken; sent %.300s", p.at, p.what, a.status, a.body, sent)
	case !p.allowed && (taken || a.status >= 500 || !named):
		t.Errorf("%s, %s: got %d %.300s, want a refusal that names it; sent %.300s", p.at, p.what, a.status, a.body, sent)
	}
}
