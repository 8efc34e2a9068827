package docs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// contract is the OpenAPI document as the page shows it, in the document's order.
type contract struct {
	Intro   []string // paragraphs
	Groups  []group
	Schemas []schema
	Headers []field // of its responses
}

// group is the endpoints of one tag.
type group struct {
	Name      string
	Endpoints []endpoint
}

// endpoint is one method on one path.
type endpoint struct {
	ID          string
	Method      string
	Path        string
	Summary     string
	Description []string
	Open        bool   // needs no API key
	Scope       string // that its key needs, "" for none
	Parameters  []field
	Body        *schema // of the request, nil for none
	Example     string  // a request for a shell
	Responses   []response
}

// Status returns the status of the endpoint's response to a valid request.
func (e *endpoint) Status() string { return e.Responses[0].Status }

// response is one of an endpoint's responses.
type response struct {
	Status      string
	Description string
	Schema      string // "" for no body of ours
}

// schema is one object or value of the contract.
type schema struct {
	Name        string
	Type        string
	Limits      string
	Values      []string
	Description []string
	Fields      []field
}

// field is a property or a parameter.
type field struct {
	Name        string
	Type        string
	Link        string   // name of its schema, "" for a plain value
	Limits      string   // in words, "" for none
	Values      []string // nil if the contract does not list them
	Place       string   // query, header or path, for parameters
	Required    bool
	Description string
}

// node is a mapping of the document, in its order.
type node yaml.MapSlice

func read(document []byte) (*contract, error) {
	var root yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(document, &root, yaml.UseOrderedMap()); err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	doc := node(root)
	c := &contract{Intro: paragraphs(doc.child("info").text("description"))}
	schemas := doc.child("components").child("schemas")
	for _, item := range schemas {
		if !schemas.isDelivery(name(item)) {
			c.Schemas = append(c.Schemas, readSchema(name(item), asNode(item.Value)))
		}
	}
	c.explain()
	for _, item := range doc.child("components").child("headers") {
		c.Headers = append(c.Headers, readField(name(item), asNode(item.Value)))
	}
	parameters := doc.child("components").child("parameters")
	for _, item := range doc.child("paths") {
		path := asNode(item.Value)
		for _, method := range []string{"get", "post", "patch", "put", "delete"} {
			if op := path.child(method); op != nil {
				c.add(op.first("tags"), c.readEndpoint(method, name(item), path, op, parameters))
			}
		}
	}
	return c, nil
}

// isDelivery reports whether a schema is only a part of the schemas of deliveries, one for each
// type of event. The page describes them by WebhookEvent alone.
func (n node) isDelivery(title string) bool {
	if title == "EventEnvelope" || strings.HasSuffix(title, "EventData") && title != "EventData" {
		return true
	}
	return slices.ContainsFunc(n.child("WebhookEvent").list("oneOf"), func(s node) bool { return reference(s) == title })
}

// explain copies a schema's description into fields that have none, so that the reader need not
// follow the link.
func (c *contract) explain() {
	for i := range c.Schemas {
		for j := range c.Schemas[i].Fields {
			c.Schemas[i].Fields[j] = c.explained(c.Schemas[i].Fields[j])
		}
	}
}

func (c *contract) explained(f field) field {
	i := slices.IndexFunc(c.Schemas, func(s schema) bool { return s.Name == f.Link })
	if i < 0 || strings.HasPrefix(f.Type, "list") {
		return f
	}
	s := c.Schemas[i]
	if f.Description == "" && len(s.Description) > 0 {
		f.Description = s.Description[0]
	}
	if f.Limits == "" {
		f.Limits = s.Limits
	}
	if len(s.Values) <= 6 {
		f.Values = s.Values
	}
	return f
}

func (c *contract) add(tag string, e endpoint) {
	i := slices.IndexFunc(c.Groups, func(g group) bool { return g.Name == tag })
	if i < 0 {
		c.Groups = append(c.Groups, group{Name: tag})
		i = len(c.Groups) - 1
	}
	c.Groups[i].Endpoints = append(c.Groups[i].Endpoints, e)
}

func (c *contract) readEndpoint(method, path string, shared, op, parameters node) endpoint {
	e := endpoint{
		ID: op.text("operationId"), Method: strings.ToUpper(method), Path: path, Summary: op.text("summary"),
		Description: paragraphs(op.text("description")), Open: op.has("security"),
	}
	sent := reference(op.child("requestBody").child("content").child("application/json").child("schema"))
	if i := slices.IndexFunc(c.Schemas, func(s schema) bool { return s.Name == sent }); i >= 0 {
		e.Body = &c.Schemas[i]
	}
	for _, p := range append(shared.list("parameters"), op.list("parameters")...) {
		if ref := reference(p); ref != "" {
			p = parameters.child(ref)
		}
		e.Parameters = append(e.Parameters, c.explained(readField(p.text("name"), p)))
	}
	for _, item := range op.child("responses") {
		if name(item) == "default" || name(item) == "4XX" {
			continue
		}
		r := asNode(item.Value)
		e.Responses = append(e.Responses, response{
			Status: name(item), Description: r.text("description"),
			Schema: reference(r.child("content").child("application/json").child("schema")),
		})
	}
	return e
}

// readField reads a parameter or header, whose type is one level deeper than a property's.
func readField(title string, n node) field {
	s := n.child("schema")
	return field{
		Name: title, Place: n.text("in"), Type: kind(s), Limits: limits(s), Values: values(s), Link: link(s),
		Required:    n.flag("required"),
		Description: n.text("description"),
	}
}

func readSchema(title string, s node) schema {
	out := schema{
		Name: title, Type: kind(s), Limits: limits(s), Values: values(s),
		Description: paragraphs(s.text("description")),
	}
	required := s.texts("required")
	for _, item := range s.child("properties") {
		p := asNode(item.Value)
		out.Fields = append(out.Fields, field{
			Name: name(item), Type: kind(p), Limits: limits(p), Values: values(p), Link: link(p),
			Required:    slices.Contains(required, name(item)),
			Description: p.text("description"),
		})
	}
	return out
}

// values returns the values that the contract lists: all of a request, or the present ones of a
// response.
func values(s node) []string { return append(s.texts("enum"), s.texts("x-extensible-enum")...) }

// link returns the name of the schema of a value, or of the items of a list.
func link(s node) string {
	for _, one := range s.list("allOf") {
		return reference(one)
	}
	if ref := reference(s); ref != "" {
		return ref
	}
	return reference(s.child("items"))
}

// kind words a schema's type.
func kind(s node) string {
	switch t := s.text("type"); {
	case t == "array":
		return strings.TrimSpace("list of " + kind(s.child("items")))
	case s.text("format") == "date-time":
		return "time"
	default:
		return t
	}
}

// anyText is the pattern of a text that may have any characters except U+0000.
const anyText = `^[^\x00]*$`

// limits words a schema's bounds.
func limits(s node) string {
	var words []string
	for _, l := range []struct{ least, most, unit string }{
		{"minLength", "maxLength", "characters"},
		{"minItems", "maxItems", "entries"},
		{"minProperties", "maxProperties", "entries"},
		{"minimum", "maximum", ""},
	} {
		if w := span(s.text(l.least), s.text(l.most)); w != "" {
			words = append(words, strings.TrimSpace(w+" "+l.unit))
		}
	}
	if p := s.text("pattern"); p != "" && p != anyText {
		words = append(words, "matches `"+p+"`")
	}
	if d := s.text("default"); d != "" {
		words = append(words, "default `"+d+"`")
	}
	return strings.Join(words, ", ")
}

func span(least, most string) string {
	switch {
	case least != "" && least == most:
		return least
	case least != "" && most != "":
		return least + " to " + most
	case most != "":
		return "up to " + most
	case least != "":
		return "at least " + least
	}
	return ""
}

// reference returns the last part of a $ref, "" for none.
func reference(s node) string {
	ref := s.text("$ref")
	return ref[strings.LastIndex(ref, "/")+1:]
}

func paragraphs(s string) []string {
	var out []string
	for p := range strings.SplitSeq(strings.TrimSpace(s), "\n\n") {
		if p != "" {
			out = append(out, strings.ReplaceAll(p, "\n", " "))
		}
	}
	return out
}

func name(item yaml.MapItem) string { return fmt.Sprint(item.Key) }

func asNode(v any) node {
	m, _ := v.(yaml.MapSlice)
	return node(m)
}

func (n node) value(key string) any {
	for _, item := range n {
		if name(item) == key {
			return item.Value
		}
	}
	return nil
}

func (n node) has(key string) bool   { return n.value(key) != nil }
func (n node) child(key string) node { return asNode(n.value(key)) }
func (n node) flag(key string) bool  { b, _ := n.value(key).(bool); return b }
func (n node) first(key string) string {
	return strings.Join(n.texts(key)[:min(1, len(n.texts(key)))], "")
}
func (n node) items(key string) []any { l, _ := n.value(key).([]any); return l }
func (n node) texts(key string) []string {
	return each(n.items(key), func(v any) string { return fmt.Sprint(v) })
}
func (n node) list(key string) []node { return each(n.items(key), asNode) }

func (n node) text(key string) string {
	if v := n.value(key); v != nil {
		return strings.TrimSpace(fmt.Sprint(v))
	}
	return ""
}

func each[T any](in []any, fn func(any) T) []T {
	out := make([]T, 0, len(in))
	for _, v := range in {
		out = append(out, fn(v))
	}
	return out
}
