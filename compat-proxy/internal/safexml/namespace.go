package safexml

import (
	"encoding/xml"
	"strings"
)

// declare brings the namespace declarations among attrs into scope.
func (p *parser) declare(attrs []xml.Attr) Reason {
	for _, a := range attrs {
		var prefix string
		switch {
		case a.Name.Space == "" && a.Name.Local == "xmlns":
		case a.Name.Space == "xmlns":
			prefix = a.Name.Local
			if prefix == "xml" || prefix == "xmlns" || a.Value == "" {
				return Prefix
			}
		default:
			continue
		}
		if a.Value == xmlSpace || a.Value == xmlnsSpace {
			return Prefix
		}
		if len(p.bindings) >= maxBindings {
			return TooMany
		}
		p.bindings = append(p.bindings, binding{prefix, a.Value})
	}
	return ""
}

// resolve gives the namespace of a name. The default namespace holds for
// elements only.
func (p *parser) resolve(name xml.Name, element bool) (string, Reason) {
	if strings.IndexByte(name.Local, ':') >= 0 {
		return "", Malformed
	}
	switch {
	case name.Space == "xml":
		return xmlSpace, ""
	case name.Space == "" && !element:
		return "", ""
	}
	for i := len(p.bindings) - 1; i >= 0; i-- {
		if p.bindings[i].prefix == name.Space {
			return p.bindings[i].uri, ""
		}
	}
	if name.Space == "" {
		return "", ""
	}
	return "", Prefix
}

// attributes stores the plain attributes and refuses two of one name, whether
// written alike or equal after their prefixes are resolved. The comparison is
// quadratic in MaxAttrs at most.
func (p *parser) attributes(el *Element, attrs []xml.Attr, start int64) Reason {
	for i, a := range attrs {
		if p.replaced(strings.Count(a.Value, string(replacement)), start) {
			return Character
		}
		for _, b := range attrs[:i] {
			if a.Name == b.Name {
				return Duplicate
			}
		}
		if a.Name.Space == "xmlns" || (a.Name.Space == "" && a.Name.Local == "xmlns") {
			continue
		}
		space, reason := p.resolve(a.Name, false)
		if reason != "" {
			return reason
		}
		for _, b := range el.Attrs {
			if b.Space == space && b.Name == a.Name.Local {
				return Duplicate
			}
		}
		el.Attrs = append(el.Attrs, Attr{Space: space, Name: a.Name.Local, Value: a.Value})
	}
	return ""
}
