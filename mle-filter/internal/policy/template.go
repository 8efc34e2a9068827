package policy

import (
	"errors"
	"net/url"
	"path"
	"strings"
)

// template is a path with placeholders for segments.
type template struct {
	segments []string // "" for any segment
	rest     bool     // any further segments, or none
}

const rest = "**"

var errTemplate = errors.New(
	"path: want segments of text or {name} after a /, with ** only at the end")

// errQuery reports a path that no request can match.
var errQuery = errors.New("path: remove ? and #: requests are matched without their query")

func parse(text string) (template, error) {
	var t template
	if strings.ContainsAny(text, "?#") {
		return t, errQuery
	}
	if !strings.HasPrefix(text, "/") || clean(text) != text ||
		strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return t, errTemplate
	}
	for _, segment := range split(text) {
		switch {
		case t.rest:
			return t, errTemplate
		case segment == rest:
			t.rest = true
		case strings.HasPrefix(segment, "{") && strings.HasSuffix(segment, "}") &&
			strings.Count(segment, "{")+strings.Count(segment, "}") == 2:
			t.segments = append(t.segments, "")
		case strings.ContainsAny(segment, "{}*"):
			return t, errTemplate
		default:
			t.segments = append(t.segments, segment)
		}
	}
	return t, nil
}

// match reports whether the segments of a clean path match.
func (t template) match(segments []string) bool {
	if len(segments) < len(t.segments) || len(segments) > len(t.segments) && !t.rest {
		return false
	}
	for i, want := range t.segments {
		if want != "" && want != segments[i] {
			return false
		}
	}
	return true
}

// covers reports whether the template matches all paths that other matches.
func (t template) covers(other template) bool {
	if other.rest && !t.rest {
		return false
	}
	if len(other.segments) < len(t.segments) || len(other.segments) > len(t.segments) && !t.rest {
		return false
	}
	for i, want := range t.segments {
		if want != "" && want != other.segments[i] {
			return false
		}
	}
	return true
}

// clean normalizes a path as a lenient server may: it decodes escapes, resolves dots, and removes
// repeated and trailing slashes. So another spelling does not bypass the table.
func clean(text string) string {
	if read, err := url.PathUnescape(text); err == nil {
		text = read
	}
	return path.Clean("/" + strings.ReplaceAll(text, `\`, "/"))
}

// split returns the segments of a clean path; the root has none.
func split(clean string) []string {
	if clean == "/" {
		return nil
	}
	return strings.Split(clean[1:], "/")
}
