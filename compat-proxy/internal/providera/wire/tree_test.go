package wire_test

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

// tree is a test request that can be written in either format.
type tree struct {
	name, text string
	children   []*tree
}

// fromNode copies a parsed tree through the API.
func fromNode(n wire.Node) *tree {
	t := &tree{name: n.Name(), text: n.Text()}
	for _, c := range n.Children() {
		t.children = append(t.children, fromNode(c))
	}
	return t
}

func (t *tree) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s=%q(", t.name, t.text)
	for _, c := range t.children {
		b.WriteString(c.String())
	}
	return b.String() + ")"
}

// xml renders the tree with indent between elements.
func (t *tree) xml(indent string) string {
	var b strings.Builder
	b.WriteString("\xef\xbb\xbf")
	t.writeXML(&b, ` xmlns="`+wire.Namespace+`"`, indent)
	return b.String()
}

func (t *tree) writeXML(b *strings.Builder, attrs, indent string) {
	b.WriteString("<" + t.name + attrs)
	if t.text == "" && len(t.children) == 0 {
		b.WriteString("/>")
		return
	}
	b.WriteString(">")
	_ = xml.EscapeText(b, []byte(t.text))
	for _, c := range t.children {
		b.WriteString(indent)
		c.writeXML(b, "", indent)
	}
	if len(t.children) > 0 {
		b.WriteString(indent)
	}
	b.WriteString("</" + t.name + ">")
}

// json renders the tree. pick chooses between equal notations.
func (t *tree) json(pick func() bool) string {
	var b strings.Builder
	b.WriteString("{")
	t.writeMember(&b, []*tree{t}, func() bool { return false })
	t.writeValue(&b, pick)
	b.WriteString("}")
	return b.String()
}

func (t *tree) writeMember(b *strings.Builder, run []*tree, pick func() bool) bool {
	b.WriteString(quoted(t.name) + ":")
	array := len(run) > 1 || pick()
	if array {
		b.WriteString("[")
	}
	return array
}

func (t *tree) writeValue(b *strings.Builder, pick func() bool) {
	if len(t.children) == 0 {
		b.WriteString(scalar(t.text, pick))
		return
	}
	b.WriteString("{")
	for i := 0; i < len(t.children); {
		end := i + 1
		for end < len(t.children) && t.children[end].name == t.children[i].name {
			end++
		}
		if i > 0 {
			b.WriteString(",")
		}
		if pick() {
			b.WriteString(quoted("ignored"+strconv.Itoa(i)) + ":null,")
		}
		array := t.children[i].writeMember(b, t.children[i:end], pick)
		for j := i; j < end; j++ {
			if j > i {
				b.WriteString(",")
			}
			t.children[j].writeValue(b, pick)
		}
		if array {
			b.WriteString("]")
		}
		i = end
	}
	b.WriteString("}")
}

// scalar writes a text as a string, or as a literal of the same text.
func scalar(text string, pick func() bool) string {
	if text == "true" || text == "false" || plainNumber(text) {
		if pick() {
			return text
		}
	}
	return quoted(text)
}

// plainNumber reports whether text is a JSON number literal.
func plainNumber(text string) bool {
	whole, part, dot := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return digits(whole) && (whole == "0" || whole[0] != '0') && (!dot || digits(part))
}

func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r == '"' || r == '\\' || r < 0x20 {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String() + `"`
}

// drawTree returns a random valid request of the given root.
func drawTree(t *rapid.T, name string, s wire.Shape) *tree {
	n := &tree{name: name}
	switch {
	case s.Any:
		n.text = "any"
	case s.Simple:
		n.text = drawText(t, s)
	}
	for _, p := range s.Positions {
		for range rapid.IntRange(p.Min, min(p.Max, p.Min+2)).Draw(t, "times") {
			i := rapid.IntRange(0, len(p.Names)-1).Draw(t, "choice")
			n.children = append(n.children, drawTree(t, p.Names[i], p.Shapes[i]))
		}
	}
	return n
}

func drawText(t *rapid.T, s wire.Shape) string {
	switch {
	case s.Enum != nil:
		return rapid.SampledFrom(s.Enum).Draw(t, "enum")
	case s.Base == wire.BooleanBase:
		return rapid.SampledFrom([]string{"true", "false", "1", "0"}).Draw(t, "bool")
	case s.Base == wire.DateBase:
		return rapid.SampledFrom([]string{"2026-02-28", "2024-02-29Z", "1999-12-31+02:00"}).Draw(t, "date")
	case s.Base == wire.InstantBase:
		return rapid.SampledFrom([]string{
			"2026-02-28T01:02:03", "2026-02-28T01:02:03.25Z",
			" 2026-02-28T01:02:03-08:00",
		}).Draw(t, "instant")
	case s.Cent:
		return rapid.SampledFrom([]string{"12", "12.5", "0.0600", "+1.00", " 7.25\n", ".01"}).Draw(t, "amount")
	case s.Base == wire.DecimalBase:
		return rapid.SampledFrom([]string{"0", "12", "12.5", "0.0600", "+1.00", " 7.25\n", ".5"}).Draw(t, "decimal")
	case s.Base == wire.IntegerBase:
		return rapid.SampledFrom([]string{"1", "007", "+12", "1000", " 5\n"}).Draw(t, "integer")
	case s.Pattern == wire.DigitsOnly:
		return rapid.StringMatching(`[0-9]{3,4}`).Draw(t, "digits")
	case s.Pattern != 0:
		return rapid.StringMatching(`[0-9A-Za-z ]{0,15}`).Draw(t, "alphanumeric")
	}
	most := s.Most
	if most < 0 || most > 30 {
		most = 30
	}
	// A carriage return would not survive XML; blanks of a leaf do.
	runes := rapid.SampledFrom([]rune("aZ09 <>&\"'\\/\t\n\u00e5\u20ac\u2028"))
	return rapid.StringOfN(runes, s.Least, most, -1).Draw(t, "text")
}
