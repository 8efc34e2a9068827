package safexml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/beevik/etree"
)

const (
	xmlnsSpace = "http://www.w3.org/2000/xmlns/"
	blanks     = " \t\r\n"
	// maxBindings bounds the namespace declarations in scope, so that looking
	// a prefix up stays cheap.
	maxBindings = 64
)

// replacement is U+FFFD, by which the decoder silently replaces a reference to a surrogate.
const replacement = "\uFFFD"

// reader builds the tree from raw tokens. It checks prefixes itself, because the decoder takes an
// unbound prefix for a namespace name.
type reader struct {
	dec  *xml.Decoder
	body []byte
	raw  []byte // the bytes of the token

	doc      *etree.Document
	at       *etree.Element // the open element, or the document
	depth    int
	nodes    int
	bindings int             // the namespace declarations in scope
	text     strings.Builder // the text of the open element since its last tag
}

func newReader(body []byte) *reader {
	dec := xml.NewDecoder(bytes.NewReader(body))
	// instruction checks the declaration, and the bytes are UTF-8 already.
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	doc := etree.NewDocument()
	return &reader{dec: dec, body: body, doc: doc, at: &doc.Element}
}

// run reads all tokens. The empty reason, here and below, means success.
func (r *reader) run() Reason {
	for {
		start := r.dec.InputOffset()
		if crowded(r.body[start:]) {
			return TooMany
		}
		tok, err := r.dec.RawToken()
		switch {
		case errors.Is(err, io.EOF) && r.depth == 0 && r.doc.Root() != nil:
			return ""
		case err != nil:
			return Malformed
		}
		r.raw = r.body[start:r.dec.InputOffset()]
		if reason := r.token(tok); reason != "" {
			return reason
		}
	}
}

// crowded reports whether b begins with a tag of more than MaxAttrs attributes. The decoder
// collects all attributes of a tag, which can need twenty times the memory of the body.
func crowded(b []byte) bool {
	if len(b) < 2 || b[0] != '<' || b[1] == '!' || b[1] == '?' {
		return false
	}
	quote, attrs := byte(0), 0
	for _, c := range b {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '>':
			return false
		case c == '"' || c == '\'':
			quote = c
		case c == '=':
			if attrs++; attrs > MaxAttrs {
				return true
			}
		}
	}
	return false
}

func (r *reader) token(tok xml.Token) Reason {
	switch t := tok.(type) {
	case xml.StartElement:
		return r.open(t)
	case xml.EndElement:
		return r.end(t)
	case xml.CharData:
		return r.charData(t)
	case xml.Comment:
		return r.count(1)
	case xml.ProcInst:
		return r.instruction(t)
	case xml.Directive:
		return Directive
	}
	return Malformed
}

// count adds n nodes to the budget.
func (r *reader) count(n int) Reason {
	if r.nodes += n; r.nodes > MaxNodes {
		return TooMany
	}
	return ""
}

func (r *reader) open(t xml.StartElement) Reason {
	switch {
	case r.depth == 0 && r.doc.Root() != nil:
		return SecondRoot
	case r.depth == MaxDepth:
		return TooDeep
	case strings.Contains(t.Name.Local, ":"): // its prefix or its local part is empty
		return Malformed
	}
	if reason := r.count(1 + len(t.Attr)); reason != "" {
		return reason
	}
	r.flush(false)
	r.at = r.at.CreateElement(fullName(t.Name))
	r.depth++
	if reason := r.attributes(t.Attr); reason != "" {
		return reason
	}
	return r.prefixes()
}

// fullName returns a name as written.
func fullName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

// attributes adds the attributes of the open element, and refuses two that are written alike.
func (r *reader) attributes(attrs []xml.Attr) Reason {
	replaced := 0
	for i, a := range attrs {
		if strings.Contains(a.Name.Local, ":") {
			return Malformed
		}
		r.at.CreateAttr(fullName(a.Name), a.Value)
		if len(r.at.Attr) == i {
			return Duplicate
		}
		if reason := r.declaration(r.at.Attr[i]); reason != "" {
			return reason
		}
		replaced += strings.Count(a.Value, replacement)
	}
	return r.surrogates(replaced)
}

// declares reports whether a is a namespace declaration.
func declares(a etree.Attr) bool { return a.Space == "xmlns" || a.Space == "" && a.Key == "xmlns" }

// declaration counts a if it is a namespace declaration, and refuses one of a reserved name.
func (r *reader) declaration(a etree.Attr) Reason {
	if !declares(a) {
		return ""
	}
	switch {
	case a.Value == XMLNamespace || a.Value == xmlnsSpace:
		return Prefix
	case a.Space != "" && (a.Key == "xml" || a.Key == "xmlns" || a.Value == ""):
		return Prefix
	}
	if r.bindings++; r.bindings > maxBindings {
		return TooMany
	}
	return ""
}

// prefixes refuses unbound prefixes of the open element, and two attributes that are equal after
// their prefixes are resolved.
func (r *reader) prefixes() Reason {
	if r.at.Space != "" && r.at.Space != "xml" && r.at.NamespaceURI() == "" {
		return Prefix
	}
	var names []xml.Name
	for _, a := range r.at.Attr {
		if a.Space == "" || a.Space == "xml" || a.Space == "xmlns" {
			continue
		}
		name := xml.Name{Space: a.NamespaceURI(), Local: a.Key}
		switch {
		case name.Space == "":
			return Prefix
		case slices.Contains(names, name):
			return Duplicate
		}
		names = append(names, name)
	}
	return ""
}

func (r *reader) end(t xml.EndElement) Reason {
	if r.at.Space != t.Name.Space || r.at.Tag != t.Name.Local {
		return Malformed
	}
	r.flush(len(r.at.Child) == 0)
	for _, a := range r.at.Attr {
		if declares(a) {
			r.bindings--
		}
	}
	r.at = r.at.Parent()
	r.depth--
	return ""
}

func (r *reader) charData(t xml.CharData) Reason {
	if r.depth == 0 {
		// The bytes as sent, not decoded: CDATA and character references are forbidden here, even ones
		// that decode to a blank.
		if len(bytes.Trim(r.raw, blanks)) > 0 {
			return Outside
		}
		return ""
	}
	r.text.Write(t)
	if reason := r.surrogates(bytes.Count(t, []byte(replacement))); reason != "" {
		return reason
	}
	return r.count(1)
}

// flush adds the text up to this tag to the open element. Blank text between child elements is left
// out.
func (r *reader) flush(leaf bool) {
	if text := r.text.String(); leaf && text != "" || strings.Trim(text, blanks) != "" {
		r.at.CreateText(text)
	}
	r.text.Reset()
}

// surrogates refuses a token whose n replacement characters are not all written in it.
func (r *reader) surrogates(n int) Reason {
	if n > 0 && n > bytes.Count(r.raw, []byte(replacement)) {
		return Character
	}
	return ""
}

// declarationForm is the content of an XML declaration. Its second group is the encoding in quotes.
var declarationForm = regexp.MustCompile(`^\s*(?:version` + pseudoValue + `(?:encoding` + pseudoValue +
	`)?(?:standalone` + pseudoValue + `)?)?$`)

const pseudoValue = `\s*=\s*("[^"]*"|'[^']*')\s*`

func (r *reader) instruction(t xml.ProcInst) Reason {
	if t.Target != "xml" || len(r.raw) != int(r.dec.InputOffset()) {
		return Instruction
	}
	m := declarationForm.FindSubmatch(t.Inst)
	if m == nil {
		return Malformed
	}
	switch encoding := bytes.Trim(m[2], `"'`); {
	case m[2] == nil, bytes.EqualFold(encoding, []byte("utf-8")), bytes.EqualFold(encoding, []byte("us-ascii")):
		return ""
	}
	return Encoding
}
