package safexml_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/beevik/etree"

	"github.com/causeway-pay/causeway/compat-proxy/internal/safexml"
)

const laughs = `<!DOCTYPE a [<!ENTITY l "lol"><!ENTITY m "&l;&l;&l;&l;">]><a>&m;</a>`

var deep = strings.Repeat("<a>", safexml.MaxDepth+1) + strings.Repeat("</a>", safexml.MaxDepth+1)

var fullTag = "<b" + manyAttributes(safexml.MaxAttrs) + "/>"

var refused = map[string]struct {
	body string
	want safexml.Reason
}{
	"doctype":                  {"<!DOCTYPE a><a/>", safexml.Directive},
	"billion laughs":           {laughs, safexml.Directive},
	"external entity":          {`<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>`, safexml.Directive},
	"doctype inside":           {"<a><!DOCTYPE b></a>", safexml.Directive},
	"undeclared entity":        {"<a>&nope;</a>", safexml.Malformed},
	"entity in attribute":      {`<a b="&nope;"/>`, safexml.Malformed},
	"stylesheet":               {`<?xml-stylesheet href="x"?><a/>`, safexml.Instruction},
	"instruction inside":       {"<a><?php x?></a>", safexml.Instruction},
	"late declaration":         {"<a/><?xml version=\"1.0\"?>", safexml.Instruction},
	"spaced declaration":       {" <?xml version=\"1.0\"?><a/>", safexml.Instruction},
	"two roots":                {"<a/><b/>", safexml.SecondRoot},
	"text before":              {"x<a/>", safexml.Outside},
	"text after":               {"<a/>x", safexml.Outside},
	"cdata after":              {"<a/><![CDATA[ ]]>", safexml.Outside},
	"reference after":          {"<a/>&#32;", safexml.Outside},
	"duplicate attribute":      {`<a b="1" b="2"/>`, safexml.Duplicate},
	"duplicate by namespace":   {`<a xmlns:p="u" xmlns:q="u" p:b="1" q:b="2"/>`, safexml.Duplicate},
	"duplicate declaration":    {`<a xmlns="u" xmlns="v"/>`, safexml.Duplicate},
	"depth":                    {deep, safexml.TooDeep},
	"open depth":               {strings.Repeat("<a>", 100_000), safexml.TooDeep},
	"nodes":                    {"<a>" + strings.Repeat("<b/>", safexml.MaxNodes) + "</a>", safexml.TooMany},
	"comments":                 {"<a>" + strings.Repeat("<!---->", safexml.MaxNodes) + "</a>", safexml.TooMany},
	"attributes":               {"<a" + manyAttributes(safexml.MaxAttrs+1) + "/>", safexml.TooMany},
	"attributes after others":  {`<b a='>"' c="'>"/>` + "<a" + manyAttributes(safexml.MaxAttrs+1), safexml.TooMany},
	"attributes after comment": {`<a><!-- <" --><b` + manyAttributes(safexml.MaxAttrs+1), safexml.TooMany},
	"attributes after quote":   {`<a><!-- <' --><b c="'"` + manyAttributes(safexml.MaxAttrs), safexml.TooMany},
	"attributes after cdata":   {`<a><![CDATA[<"]]><b` + manyAttributes(safexml.MaxAttrs+1), safexml.TooMany},
	"nodes of attributes":      {"<a>" + strings.Repeat(fullTag, 62) + "</a>", safexml.TooMany},
	"runs of text":             {"<a>" + strings.Repeat("<![CDATA[x]]>", safexml.MaxNodes) + "</a>", safexml.TooMany},
	"declarations":             {nestedDeclarations(), safexml.TooMany},
	"unbound prefix":           {"<p:a/>", safexml.Prefix},
	"unbound attribute prefix": {`<a p:b="1"/>`, safexml.Prefix},
	"undeclared prefix":        {`<a xmlns:p=""/>`, safexml.Prefix},
	"xml prefix taken":         {`<a xmlns:xml="u"/>`, safexml.Prefix},
	"xmlns prefix taken":       {`<a xmlns:xmlns="u"/>`, safexml.Prefix},
	"namespace of xml":         {`<a xmlns="http://www.w3.org/XML/1998/namespace"/>`, safexml.Prefix},
	"namespace of xmlns":       {`<a xmlns:p="http://www.w3.org/2000/xmlns/"/>`, safexml.Prefix},
	"empty prefix":             {"<:a></a>", safexml.Malformed},
	"empty attribute prefix":   {`<a :b="1"/>`, safexml.Malformed},
	"two colons":               {`<a xmlns:p="u"><p:b:c/></a>`, safexml.Malformed},
	"mismatched end":           {"<a></b>", safexml.Malformed},
	"prefix of end differs":    {`<p:a xmlns:p="u" xmlns:q="u"></q:a>`, safexml.Malformed},
	"unclosed":                 {"<a>", safexml.Malformed},
	"extra end":                {"<a/></a>", safexml.Malformed},
	"empty":                    {"", safexml.Malformed},
	"blank":                    {" \n", safexml.Malformed},
	"latin-1 declared":         {`<?xml version="1.0" encoding="ISO-8859-1"?><a/>`, safexml.Encoding},
	"utf-16 declared":          {`<?xml version='1.0' encoding = 'utf-16'?><a/>`, safexml.Encoding},
	"version":                  {`<?xml version="1.1"?><a/>`, safexml.Malformed},
	"declaration order":        {`<?xml encoding="utf-8" version="1.0"?><a/>`, safexml.Malformed},
	"declaration twice":        {`<?xml version="1.0" encoding="utf-8" encoding="utf-8"?><a/>`, safexml.Malformed},
	"declaration unquoted":     {`<?xml version="1.0" encoding=utf-8?><a/>`, safexml.Malformed},
	"latin-1 bytes":            {"<a>\xe5</a>", safexml.Encoding},
	"overlong bytes":           {"<a>\xc0\xaf</a>", safexml.Encoding},
	"nul":                      {"<a>\x00</a>", safexml.Character},
	"escape in comment":        {"<a><!--\x1b--></a>", safexml.Character},
	"noncharacter":             {"<a>\uffff</a>", safexml.Character},
	"reference to nul":         {"<a>&#0;</a>", safexml.Malformed},
	"reference to control":     {"<a>&#x1b;</a>", safexml.Malformed},
	"reference to surrogate":   {"<a>&#xD800;</a>", safexml.Character},
	"surrogate in attribute":   {`<a b="&#xD800;"/>`, safexml.Character},
	"surrogate beside U+FFFD":  {"<a b=\"\uFFFD\" c=\"&#xD800;\"/>", safexml.Character},
	"bare end of cdata":        {"<a>]]></a>", safexml.Malformed},
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range refused {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, got := safexml.Parse([]byte(tt.body), 0); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func manyAttributes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ` a%d=""`, i)
	}
	return b.String()
}

func nestedDeclarations() string {
	var b strings.Builder
	for i := range safexml.MaxDepth {
		fmt.Fprintf(&b, `<a xmlns:p%d="u" xmlns:q%d="u" xmlns:r%d="u">`, i, i, i)
	}
	return b.String()
}

func TestLimit(t *testing.T) {
	t.Parallel()
	body := []byte("<a>12345</a>")
	if _, reason := safexml.Parse(body, len(body)); reason != "" {
		t.Errorf("at the limit: %s", reason)
	}
	if _, reason := safexml.Parse(body, len(body)-1); reason != safexml.TooLarge {
		t.Errorf("got %q, want %q", reason, safexml.TooLarge)
	}
}

// TestNamespaces: a declaration counts only in its scope, and the prefix xml needs none.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"<a>" + strings.Repeat(`<b xmlns:p="u"/>`, 100) + "</a>", `<xml:a xml:lang="en"/>`,
		`<a xmlns:p="u" xmlns:q="v" p:b="1" q:b="2" b="3"/>`, `<a xmlns="u"><b xmlns=""/></a>`,
	} {
		if _, reason := safexml.Parse([]byte(body), 0); reason != "" {
			t.Errorf("%s: %s", body, reason)
		}
	}
}

// TestSignsOfAttributes: equals signs outside tags, and inside values, are no attributes.
func TestSignsOfAttributes(t *testing.T) {
	t.Parallel()
	signs := strings.Repeat("=", safexml.MaxAttrs+1)
	for _, body := range []string{
		"<a>" + signs + "</a>", "<!--" + signs + "--><a/>", `<a b="` + signs + `"/>`, `<a b='">` + signs + `'/>`,
		"<a>it's<b/>" + signs + "</a><!-- '" + signs + "-->", "<a><![CDATA[" + signs + "]]></a>",
		"<a><!-- <-" + signs + " --></a>", "<a><![CDATA[ a < b " + signs + "]]></a>",
		"<a" + manyAttributes(safexml.MaxAttrs) + "/>",
	} {
		if _, reason := safexml.Parse([]byte(body), 0); reason != "" {
			t.Errorf("%s: %s", body, reason)
		}
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	const body = "\xef\xbb\xbf<?xml version=\"1.0\" encoding='US-ASCII' standalone='no' ?>\n<!-- c -->" +
		`<a xmlns="u" xmlns:p="v" one="1" p:two="&lt;&#50;">` +
		"\n <b>x<!-- y -->&amp;<![CDATA[<z>]]></b>\n late <p:c xmlns=\"w\"><d/></p:c><e>\r\n</e></a>\n"
	el, reason := safexml.Parse([]byte(body), 0)
	if reason != "" {
		t.Fatal(reason)
	}
	const want = `{u}a@xmlns=u@p=v@one=1@{v}two=<2({u}b("x&<z>")"\n late "{v}c@xmlns=w({w}d){u}e("\n"))`
	if got := dump(el); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// dump writes a tree in one line.
func dump(el *etree.Element) string {
	var b strings.Builder
	b.WriteString(braced(el.NamespaceURI()) + el.Tag)
	for _, a := range el.Attr {
		b.WriteString("@" + braced(a.NamespaceURI()) + a.Key + "=" + a.Value)
	}
	if len(el.Child) == 0 {
		return b.String()
	}
	b.WriteByte('(')
	for _, token := range el.Child {
		switch token := token.(type) {
		case *etree.Element:
			b.WriteString(dump(token))
		case *etree.CharData:
			fmt.Fprintf(&b, "%q", token.Data)
		default:
			fmt.Fprintf(&b, "%T", token)
		}
	}
	return b.String() + ")"
}

func braced(space string) string {
	if space == "" {
		return ""
	}
	return "{" + space + "}"
}
