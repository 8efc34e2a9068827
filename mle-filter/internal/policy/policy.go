package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/shared/id"
)

// Level is the required encryption of a body.
type Level string

// The levels. The zero Level stands for Optional.
const (
	Off      Level = "off"      // rejected
	Optional Level = "optional" // the client decides
	Required Level = "required"
)

// Rule is the rule for a request.
type Rule struct {
	Request  Level // of the request's body
	Response Level // of the response; Off exactly if Request is
}

// Config is the table in the configuration file.
type Config struct {
	Routes    []Route             `yaml:"routes"`
	Merchants map[string]Merchant `yaml:"merchants"`
}

// Route is the rule for requests with a method and a path.
type Route struct {
	Method   string `yaml:"method"` // empty for any
	Path     string `yaml:"path"`   // {name} stands for any one segment, /** at the end for any further segments
	MLE      Level  `yaml:"mle"`
	Response Level  `yaml:"response_mle"`
}

// Merchant is a stricter rule for all requests of a merchant.
type Merchant struct {
	MLE      Level `yaml:"mle"`
	Response Level `yaml:"response_mle"`
}

// Table finds the rule for a request. It is safe for concurrent use.
type Table struct {
	routes    []route
	merchants map[string]Rule
}

type route struct {
	method string
	path   template
	rule   Rule
}

// New validates a table. With the zero Config encryption is optional everywhere.
func New(cfg Config) (*Table, error) {
	t := &Table{merchants: make(map[string]Rule, len(cfg.Merchants))}
	for i, r := range cfg.Routes {
		read, err := r.read()
		if err != nil {
			return nil, fmt.Errorf("policy: route %d: %w", i+1, err)
		}
		if slices.ContainsFunc(t.routes, func(other route) bool { return other.hides(read) }) {
			return nil, fmt.Errorf("policy: route %d: an earlier route matches all of its requests", i+1)
		}
		t.routes = append(t.routes, read)
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Merchants)) {
		rule, err := cfg.Merchants[name].rule(name)
		if err == nil && !t.tightens(rule) {
			err = errors.New("no stricter than the routes: remove it, or set mle or response_mle to required")
		}
		if err != nil {
			return nil, fmt.Errorf("policy: merchants: %q: %w", name, err)
		}
		t.merchants[name] = rule
	}
	return t, nil
}

// Rule returns the rule for a request: the first matching route of the table, made stricter for the
// merchant. A merchant cannot relax a level, and Off stays Off. The path is the request's, without
// its query.
func (t *Table) Rule(method, path, merchant string) Rule {
	rule := Rule{Request: Optional, Response: Optional}
	segments := split(clean(path))
	for _, r := range t.routes {
		if (r.method == "" || r.method == method) && r.path.match(segments) {
			rule = r.rule
			break
		}
	}
	if rule.Request == Off {
		return rule
	}
	name, _, _ := strings.Cut(merchant, "/") // ignore the mode: a merchant's rule applies in both
	return rule.and(t.merchants[name])
}

// tightens reports whether a merchant's rule changes the rule of any request.
func (t *Table) tightens(rule Rule) bool {
	everything := route{path: template{rest: true}}
	for _, r := range t.routes {
		if r.rule.Request != Off && r.rule.and(rule) != r.rule {
			return true
		}
		if r.hides(everything) { // no request reaches a later route
			return false
		}
	}
	usual := Rule{Request: Optional, Response: Optional}
	return usual.and(rule) != usual
}

// ByMerchant reports whether a rule can depend on the merchant.
func (t *Table) ByMerchant() bool { return len(t.merchants) > 0 }

// and returns the stricter of two rules, of which neither may be Off.
func (r Rule) and(other Rule) Rule {
	if other.Request == Required {
		r.Request = Required
	}
	if other.Response == Required {
		r.Response = Required
	}
	return r
}

// Combine combines the rule with the level of the route in the proxy. Required in either requires
// encryption; otherwise Off in either turns it off. The zero Level changes nothing.
func (r Rule) Combine(word Level) Rule {
	switch {
	case r.Request == Required || word == Required:
		r.Request = Required
	case r.Request == Off || word == Off && r.Response != Required:
		return Rule{Request: Off, Response: Off}
	}
	if r.Response == Off {
		r.Response = Optional
	}
	return r
}

func (l Level) orOptional() Level {
	if l == "" {
		return Optional
	}
	return l
}

func (l Level) known() bool { return l == Off || l == Optional || l == Required }

// methods are the HTTP methods of v1.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

func (r Route) read() (route, error) {
	path, err := parse(r.Path)
	if err != nil {
		return route{}, err
	}
	if r.Method != "" && !slices.Contains(methods, r.Method) {
		return route{}, errors.New("method: want one of " + strings.Join(methods, ", "))
	}
	rule := Rule{Request: r.MLE.orOptional(), Response: r.Response.orOptional()}
	if !rule.Request.known() || !rule.Response.known() {
		return route{}, errors.New("mle and response_mle: want off, optional or required")
	}
	if rule.Request == Off && r.Response == "" {
		rule.Response = Off
	}
	if (rule.Request == Off) != (rule.Response == Off) {
		return route{}, errors.New("mle and response_mle: set both to off, or neither")
	}
	return route{method: r.Method, path: path, rule: rule}, nil
}

func (m Merchant) rule(merchant string) (Rule, error) {
	number, err := id.Parse(id.Merchant, merchant)
	if err != nil || id.Format(id.Merchant, number) != merchant { // core writes each id in one form
		return Rule{}, errors.New("not a merchant's id: want mer_ and 13 characters")
	}
	rule := Rule{Request: m.MLE.orOptional(), Response: m.Response.orOptional()}
	if !rule.Request.known() || !rule.Response.known() {
		return Rule{}, errors.New("mle and response_mle: want optional or required")
	}
	if rule.Request == Off || rule.Response == Off {
		return Rule{}, errors.New("mle and response_mle: want optional or required: a merchant cannot turn encryption off")
	}
	return rule, nil
}

// hides reports whether the route matches every request that other matches.
func (r route) hides(other route) bool {
	return (r.method == "" || r.method == other.method) && r.path.covers(other.path)
}
