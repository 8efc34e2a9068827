package docs

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed page.html
var pageSource string

// Style is the page's style sheet.
//
//go:embed style.css
var Style []byte

// Card is a test card of the simulator.
type Card struct {
	PaymentMethod string // "" where the card is reached by its number only
	Number        string
	Brand         string
	Outcome       string // approved, or the decline code
	Behaviour     string // none, or what the simulator does before it answers
}

// Fault is a line of the error table.
type Fault struct {
	Code    string
	Type    string
	Status  int
	Message string // "" where the message depends on the case
}

// Source is what the page shows.
type Source struct {
	Contract []byte // OpenAPI 3.0 in YAML
	Cards    []Card
	Faults   []Fault
}

// Docs makes the contract's two forms, each once. It is safe for concurrent use.
type Docs struct {
	contract func() ([]byte, error)
	page     func() ([]byte, error)
}

// New returns the docs of s. Nothing is made before it is asked for: the service must start fast.
func New(s Source) *Docs {
	return &Docs{
		contract: sync.OnceValues(func() ([]byte, error) {
			b, err := yaml.YAMLToJSON(s.Contract)
			if err != nil {
				return nil, fmt.Errorf("contract as json: %w", err)
			}
			return b, nil
		}),
		page: sync.OnceValues(func() ([]byte, error) { return render(s) }),
	}
}

// Contract returns the OpenAPI document as JSON.
func (d *Docs) Contract() ([]byte, error) { return d.contract() }

// Page returns the page as HTML. It wants Style beside it as style.css.
func (d *Docs) Page() ([]byte, error) { return d.page() }

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

func render(s Source) ([]byte, error) {
	c, err := read(s.Contract)
	if err != nil {
		return nil, err
	}
	t, err := template.New("page").Funcs(template.FuncMap{"marked": marked}).Parse(pageSource)
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, struct {
		*contract
		Cards  []Card
		Faults []Fault
	}{c, s.Cards, s.Faults}); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return out.Bytes(), nil
}
