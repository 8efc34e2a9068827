package docs

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"
	"sync"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

//go:embed page.html
var pageSource string

//go:embed guide.html
var guideSource string

// Style is the page's style sheet.
//
//go:embed style.css
var Style []byte

// Script is the page's script. The page also works without it.
//
//go:embed script.js
var Script []byte

// Card is a test card of the simulator.
type Card struct {
	PaymentMethod string // "" if only the card's number selects it
	Number        string
	Brand         string
	Outcome       string // approved, or the decline code
	Behaviour     string // none, or the simulator's behaviour before its response
}

// Trigger is a value with a special effect in the simulator.
type Trigger struct {
	Field   string // where it stands
	Value   string // the value, or its form
	Effect  string // in words, with codes between backquotes
	Outcome string // approved, or the decline code
}

// Fault is a line of the error table.
type Fault struct {
	Code    string
	Type    string
	Status  int
	Message string // "" where the message depends on the case
}

// Source holds the documents from which the page is made.
type Source struct {
	Contract []byte // OpenAPI 3.0 in YAML
	Cards    []Card
	Triggers []Trigger
	Faults   []Fault
	Scopes   map[string]string // the scopes of an endpoint, by method, space, path
}

// Docs makes the contract's two forms and the guides, each once. It is safe for concurrent use.
type Docs struct {
	contract func() ([]byte, error)
	page     func() ([]byte, error)
	guides   func() (map[string][]byte, error)
}

// New returns the docs of s. Nothing is made before the first request: the service must start fast.
func New(s Source) *Docs {
	return &Docs{
		contract: sync.OnceValues(func() ([]byte, error) {
			b, err := published(s.Contract)
			if err != nil {
				return nil, fmt.Errorf("contract as json: %w", err)
			}
			return b, nil
		}),
		page:   sync.OnceValues(func() ([]byte, error) { return render(s) }),
		guides: sync.OnceValues(renderGuides),
	}
}

// Contract returns the OpenAPI document as JSON, without the extensions for our own generator.
func (d *Docs) Contract() ([]byte, error) { return d.contract() }

// Page returns the page as HTML. It loads Style and Script as style.css and script.js.
func (d *Docs) Page() ([]byte, error) { return d.page() }

// Guide returns the page of a guide, as HTML. Its name is one of guides.Names.
func (d *Docs) Guide(name string) ([]byte, error) {
	pages, err := d.guides()
	return pages[name], err
}

// part is a piece of a text, or of code where the text had backquotes.
type part struct {
	Code bool
	Text string
}

// marked splits a text at its backquotes.
func marked(s string) []part {
	var out []part
	for i, text := range strings.Split(s, "`") {
		if text != "" {
			out = append(out, part{Code: i%2 == 1, Text: text})
		}
	}
	return out
}

// piece is a part of an example. kind names the reader's value that replaces it, if any.
type piece struct{ Class, Text string }

// pieces splits an example at the address and the key.
func pieces(s string) []piece {
	var out []piece
	for i, around := range strings.Split(s, exampleOrigin) {
		if i > 0 {
			out = append(out, piece{"origin", exampleOrigin})
		}
		for j, text := range strings.Split(around, exampleKey) {
			if j > 0 {
				out = append(out, piece{"key", exampleKey})
			}
			out = append(out, piece{"", text})
		}
	}
	return out
}

// complete adds to the endpoints the data that the contract lacks.
func (c *contract) complete(s Source) error {
	for _, g := range c.Groups {
		for i := range g.Endpoints {
			e := &g.Endpoints[i]
			e.Scope = s.Scopes[e.Method+" "+e.Path]
			var err error
			if e.Example, err = shell(*e); err != nil {
				return err
			}
		}
	}
	return nil
}

// templates returns the templates of both kinds of pages, and their common parts.
func templates() (*template.Template, error) {
	t, err := template.New("page").Funcs(
		template.FuncMap{
			"marked": marked, "pieces": pieces, "words": words, "breakable": breakable, "anchor": v1.ErrorAnchor,
		}).Parse(pageSource)
	if err == nil {
		_, err = t.New("guide").Parse(guideSource)
	}
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	return t, nil
}

// renderGuides returns the page of each guide, by its name.
func renderGuides() (map[string][]byte, error) {
	t, err := templates()
	if err != nil {
		return nil, err
	}
	all, err := readGuides()
	if err != nil {
		return nil, err
	}
	pages := map[string][]byte{}
	for _, g := range all {
		var out bytes.Buffer
		if err := t.ExecuteTemplate(&out, "guide", struct {
			guide
			Guides []guide
		}{g, all}); err != nil {
			return nil, fmt.Errorf("guide %s: %w", g.Name, err)
		}
		pages[g.Name] = out.Bytes()
	}
	return pages, nil
}

func render(s Source) ([]byte, error) {
	c, err := read(s.Contract)
	if err != nil {
		return nil, err
	}
	if err := c.complete(s); err != nil {
		return nil, err
	}
	t, err := templates()
	if err != nil {
		return nil, err
	}
	all, err := readGuides()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, "page", struct {
		*contract
		Guides               []guide
		Cards                []Card
		Triggers             []Trigger
		Faults               []Fault
		First, Keyed, Listed string // examples of the basics
	}{c, all, s.Cards, s.Triggers, s.Faults, basic("POST", "/v1/transactions", "", sale), basic("POST", "/v1/transactions",
		"order-1042", sale), basic("GET", "/v1/transactions?limit=3", "", "")}); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return out.Bytes(), nil
}

// words returns a tag as a heading.
func words(tag string) string {
	text := strings.ReplaceAll(tag, "_", " ")
	if rest, ok := strings.CutPrefix(text, "api "); ok {
		return "API " + rest
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// breakable lets a long path break at its parameters and underscores.
func breakable(path string) template.HTML {
	text := template.HTMLEscapeString(path)
	text = strings.NewReplacer("/{", "/<wbr>{", "_", "_<wbr>", "}/", "}<wbr>/").Replace(text)
	return template.HTML(text) //nolint:gosec // it was escaped
}
