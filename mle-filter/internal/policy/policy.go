package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/shared/id"
)

// Level is how much encryption a body needs.
type Level string

// The levels there are. The zero Level stands for Optional.
const (
	Off      Level = "off"      // refused
	Optional Level = "optional" // as the client likes
	Required Level = "required"
)

// Rule is what holds for a request.
type Rule struct {
	Request  Level // of the request's body
	Response Level // of the response's; Off exactly where Request is
}

// Config is the table as it stands in the configuration file.
type Config struct {
	Routes    []Route             `yaml:"routes"`
	Merchants map[string]Merchant `yaml:"merchants"`
}

// Route is what holds for the requests with a method and a path.
type Route struct {
	Method   string `yaml:"method"` // empty for any
	Path     string `yaml:"path"`   // {name} stands for any one segment, /** at the end for all that follows
	MLE      Level  `yaml:"mle"`
	Response Level  `yaml:"response_mle"`
}

// Merchant is a merchant's demand on all its requests, on top of the routes' demands.
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

// New checks a table. The zero Config gives one in which everything is optional.
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

// Rule returns the rule for a request: the first route of the table that matches, made stricter for
// its merchant. A merchant can lift nothing, and a level that is off stays off. The path is the one
// of the request, without its query.
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
	name, _, _ := strings.Cut(merchant, "/") // a mode may follow: a merchant's demand holds in both
	return rule.and(t.merchants[name])
}

// tightens reports whether there is a request that a merchant's rule makes a difference to.
func (t *Table) tightens(rule Rule) bool {
	everything := route{path: template{rest: true}}
	for _, r := range t.routes {
		if r.rule.Request != Off && r.rule.and(rule) != r.rule {
			return true
		}
		if r.hides(everything) { // no request gets by it
			return false
		}
	}
	usual := Rule{Request: Optional, Response: Optional}
	return usual.and(rule) != usual
}

// ByMerchant reports whether a rule can depend on whose request it is.
func (t *Table) ByMerchant() bool { return len(t.merchants) > 0 }

// and is the stricter of two rules neither of which is off.
func (r Rule) and(other Rule) Rule {
	if other.Request == Required {
		r.Request = Required
	}
	if other.Response == Required {
		r.Response = Required
	}
	return r
}

// Combine returns the rule if the proxy that routes the request has a level for its body too. A
// body that either requires to be encrypted must be; else a level that either turns off is off. The
// zero Level changes nothing.
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

// methods are the HTTP methods that requests to v1 can have.
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
	if err != nil || id.Format(id.Merchant, number) != merchant { // core writes ids in one way
		return Rule{}, errors.New("not a merchant's id: want mer_ and 13 characters")
	}
	rule := Rule{Request: m.MLE.orOptional(), Response: m.Response.orOptional()}
	if !rule.Request.known() || !rule.Response.known() {
		return Rule{}, errors.New("mle and response_mle: want optional or required")
	}
	if rule.Request == Off || rule.Response == Off {
		return Rule{}, errors.New("mle and response_mle: a merchant cannot turn encryption off")
	}
	return rule, nil
}

// hides reports whether the route takes every request that the other could.
func (r route) hides(other route) bool {
	return (r.method == "" || r.method == other.method) && r.path.covers(other.path)
}
