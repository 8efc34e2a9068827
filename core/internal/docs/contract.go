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
	Open        bool // needs no API key
	Parameters  []field
	Body        string // name of the schema sent, "" for none
	Answers     []response
}

// response is what an endpoint answers.
type response struct {
	Status      string
	Description string
	Schema      string // "" for no body of ours
}

// schema is one object or value of the contract.
type schema struct {
	Name        string
	Type        string
	Description []string
	Fields      []field
}

// field is a property or a parameter.
type field struct {
	Name        string
	Type        string
	Link        string // name of the schema it is, "" for a plain value
	Place       string // query, header or path, for parameters
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
	for _, item := range doc.child("components").child("schemas") {
		c.Schemas = append(c.Schemas, readSchema(name(item), asNode(item.Value)))
	}
	parameters := doc.child("components").child("parameters")
	for _, item := range doc.child("paths") {
		path := asNode(item.Value)
		for _, method := range []string{"get", "post", "patch", "put", "delete"} {
			if op := path.child(method); op != nil {
				e := readEndpoint(method, name(item), path, op, parameters)
				c.add(op.first("tags"), e)
			}
		}
	}
	return c, nil
}

func (c *contract) add(tag string, e endpoint) {
	i := slices.IndexFunc(c.Groups, func(g group) bool { return g.Name == tag })
	if i < 0 {
		c.Groups = append(c.Groups, group{Name: tag})
		i = len(c.Groups) - 1
	}
	c.Groups[i].Endpoints = append(c.Groups[i].Endpoints, e)
}

func readEndpoint(method, path string, shared, op, parameters node) endpoint {
	e := endpoint{
		ID: op.text("operationId"), Method: strings.ToUpper(method), Path: path, Summary: op.text("summary"),
		Description: paragraphs(op.text("description")), Open: op.has("security"),
		Body: reference(op.child("requestBody").child("content").child("application/json").child("schema")),
	}
	for _, p := range append(shared.list("parameters"), op.list("parameters")...) {
		if ref := reference(p); ref != "" {
			p = parameters.child(ref)
		}
		e.Parameters = append(e.Parameters, field{
			Name: p.text("name"), Place: p.text("in"), Type: kind(p.child("schema")), Required: p.flag("required"), Description: p.text("description"),
		})
	}
	for _, item := range op.child("responses") {
		if name(item) == "default" {
			continue
		}
		r := asNode(item.Value)
		e.Answers = append(e.Answers, response{
			Status: name(item), Description: r.text("description"), Schema: reference(r.child("content").child("application/json").child("schema")),
		})
	}
	return e
}

func readSchema(title string, s node) schema {
	out := schema{Name: title, Type: kind(s), Description: paragraphs(s.text("description"))}
	required := s.texts("required")
	for _, item := range s.child("properties") {
		p := asNode(item.Value)
		link := reference(p)
		if link == "" {
			link = reference(p.child("items"))
		}
		for _, one := range p.list("allOf") {
			link = reference(one)
		}
		out.Fields = append(out.Fields, field{
			Name: name(item), Type: kind(p), Link: link, Required: slices.Contains(required, name(item)), Description: p.text("description"),
		})
	}
	return out
}

// kind words a schema's type and bounds.
func kind(s node) string {
	words := s.text("type")
	if words == "array" {
		words = "list of " + kind(s.child("items"))
	}
	if enum := s.texts("enum"); len(enum) > 0 {
		words = strings.Join(enum, " | ")
	}
	if most := s.text("maxLength"); most != "" {
		words += ", up to " + most + " characters"
	}
	if least, most := s.text("minimum"), s.text("maximum"); least != "" || most != "" {
		words += ", " + least + " … " + most
	}
	return strings.TrimSuffix(words, " ")
}

// reference is the last part of a $ref, "" for none.
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
