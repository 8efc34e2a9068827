package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/shared/dropin"
)

// Route sends the requests for a path to an upstream. The first matching route applies.
type Route struct {
	Path     string `yaml:"path"`
	Upstream string `yaml:"upstream"`
	MLE      Level  `yaml:"mle"`
}

// Level is the message-level encryption of a route.
type Level string

// The levels. The default is Optional. With OnDemand, only requests with encryption, or with a
// demand for it, pass mle-filter.
const (
	Off      Level = "off"
	OnDemand Level = "on_demand"
	Optional Level = "optional"
)

// TrustPath is the path that the edge serves itself, on every host.
const TrustPath = "/v1/trust/**"

func defaultRoutes() []Route {
	routes := []Route{
		{"/compat/**", "compat", OnDemand},
		{"/xml/v1/request.api/**", "compat", OnDemand},
		{"/pts/**", "compat", OnDemand},
		{"/risk/**", "compat", OnDemand},
		{"/tms/**", "compat", OnDemand},
		{"/tss/**", "compat", OnDemand},
		{"/v1/mle/**", "mle", Off},
		{"/v1/health", "core", Off},
		{"/v1/**", "core", Optional},
		{"/docs/**", "core", Optional},
	}
	// compat-proxy only refuses the other families of provider-b, so they are last.
	for _, family := range dropin.FamiliesB() {
		path := "/" + family + "/**"
		if !slices.ContainsFunc(routes, func(r Route) bool { return r.Path == path }) {
			routes = append(routes, Route{path, "compat", OnDemand})
		}
	}
	return routes
}

// Pattern is a parsed path of a route.
type Pattern struct {
	Segments []string // {} matches any segment
	Rest     bool     // ends with /**
}

// A segment has only characters that RFC 3986 leaves unescaped in every path, so it has one
// spelling. {name} matches any segment.
var segment = regexp.MustCompile(`^(\{[a-z_]+\}|[A-Za-z0-9._~-]+)$`)

// ParsePattern parses a path of a route. /** at its end matches the path without it, and every path
// below.
func ParsePattern(path string) (Pattern, error) {
	if !strings.HasPrefix(path, "/") {
		return Pattern{}, errors.New("want a path that begins with /")
	}
	var p Pattern
	rest, cut := strings.CutSuffix(path, "/**")
	p.Rest = cut
	if rest == "" && cut {
		return p, nil
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
		switch {
		case part == "":
			return Pattern{}, errors.New(
				"a path must have no empty segment and no / at its end: Envoy merges slashes before it matches")
		case part == "." || part == "..":
			return Pattern{}, fmt.Errorf("a path must not have the segment %q: Envoy resolves it before it matches", part)
		case strings.Contains(part, "*"):
			return Pattern{}, errors.New("a * is allowed only at the end, as /**; use {name} for one segment")
		case !segment.MatchString(part):
			return Pattern{}, fmt.Errorf("segment %q: want letters, digits, . _ ~ and -, or {name}", part)
		case part[0] == '{':
			part = "{}"
		}
		p.Segments = append(p.Segments, part)
	}
	return p, nil
}

// Hides reports whether p matches every path that q matches.
func (p Pattern) Hides(q Pattern) bool {
	for i, s := range p.Segments {
		if i >= len(q.Segments) || s != "{}" && s != q.Segments[i] {
			return false
		}
	}
	return p.Rest || len(p.Segments) == len(q.Segments) && !q.Rest
}

func (c *Config) checkRoutes(f *faults) {
	builtIn, err := ParsePattern(TrustPath)
	if err != nil {
		f.err("routes", err) // impossible
	}
	type earlier struct {
		key string
		p   Pattern
	}
	var before []earlier
	for i, r := range c.Routes {
		key := fmt.Sprintf("routes[%d]", i)
		c.checkRoute(f, key, r)
		p, err := ParsePattern(r.Path)
		if err != nil {
			f.add(key+".path", "%s: %s", r.Path, err)
			continue
		}
		if builtIn.Hides(p) {
			f.add(key+".path", "%s is never matched: the edge serves %s itself. Remove it", r.Path, TrustPath)
		}
		at := slices.IndexFunc(before, func(e earlier) bool { return e.p.Hides(p) })
		if at >= 0 {
			f.add(key+".path", "%s is never matched: %s above it matches all of its requests. Remove it, or move it up",
				r.Path, before[at].key)
		}
		before = append(before, earlier{key + " (" + r.Path + ")", p})
	}
}

func (c *Config) checkRoute(f *faults, key string, r Route) {
	if _, ok := c.Upstreams[r.Upstream]; !ok {
		f.add(key+".upstream", "%q is not in upstreams, so %s has no target. Add it there, or change the route",
			r.Upstream, r.Path)
	}
	switch r.MLE {
	case Off:
	case "", OnDemand, Optional:
		if c.ExtProc.Address == "" {
			f.add(key+".mle",
				"%s: set extproc.address, or mle: off, because no program decrypts the requests", r.Path)
		}
	default:
		f.add(key+".mle", "%q is not one of off, on_demand and optional. core mle announce requires encryption",
			string(r.MLE))
	}
}
