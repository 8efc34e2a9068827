package safexml_test

import (
	"strings"
	"testing"

	"github.com/beevik/etree"

	"github.com/causeway-pay/causeway/compat-proxy/internal/safexml"
)

// FuzzParse checks for panics. An accepted document must keep the documented limits, and be the
// same tree again when etree writes it and Parse reads it.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`<?xml version="1.0" encoding="utf-8"?><a xmlns="u" b="1"><c>t</c></a>`))
	f.Add([]byte(`<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`))
	f.Add([]byte(`<p:a xmlns:p="u" p:b="&lt;&#13;">x<!-- --><c> </c>\r\n<![CDATA[&]]></p:a>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		el, reason := safexml.Parse(body, 1<<20)
		if (el == nil) == (reason == "") {
			t.Fatalf("got %v and %q", el, reason)
		}
		if reason != "" {
			return
		}
		if nodes, depth := measure(t, el); nodes > safexml.MaxNodes || depth > safexml.MaxDepth {
			t.Fatalf("%d nodes, depth %d", nodes, depth)
		}
		written := etree.NewDocumentWithRoot(el)
		written.WriteSettings = etree.WriteSettings{CanonicalText: true, CanonicalAttrVal: true}
		b, err := written.WriteToBytes()
		if err != nil {
			t.Fatal(err)
		}
		again, reason := safexml.Parse(b, 0)
		if reason != "" {
			t.Fatalf("%s reading back %q", reason, b)
		}
		if got, want := dump(again), dump(el); got != want {
			t.Fatalf("\n got %s\nwant %s", got, want)
		}
	})
}

// measure returns the number of nodes and the depth. Text between child elements must not be blank,
// and an element without any must have at most one text token.
func measure(t *testing.T, el *etree.Element) (nodes, depth int) {
	t.Helper()
	nodes = 1 + len(el.Attr)
	leaf := len(el.ChildElements()) == 0
	if leaf && len(el.Child) > 1 {
		t.Fatalf("%d text tokens", len(el.Child))
	}
	for _, token := range el.Child {
		switch token := token.(type) {
		case *etree.Element:
			n, d := measure(t, token)
			nodes, depth = nodes+n, max(depth, d)
		case *etree.CharData:
			nodes++
			if !leaf && strings.Trim(token.Data, " \t\r\n") == "" {
				t.Fatalf("blank text %q between child elements", token.Data)
			}
		default:
			t.Fatalf("%T", token)
		}
	}
	return nodes, depth + 1
}
