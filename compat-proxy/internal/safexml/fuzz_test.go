package safexml_test

import (
	"encoding/xml"
	"errors"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/safexml"
)

// FuzzParse checks for panics. An accepted document must keep the documented limits, and be the
// same tree again when it is written out and read back.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`<?xml version="1.0" encoding="utf-8"?><a xmlns="u" b="1"><c>t</c></a>`))
	f.Add([]byte(`<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		el, err := safexml.Parse(body, 1<<20)
		if err != nil {
			var refusal *safexml.Error
			if !errors.As(err, &refusal) || refusal.Reason == "" {
				t.Fatalf("foreign error %v", err)
			}
			return
		}
		if nodes, depth := measure(el); nodes > safexml.MaxNodes || depth > safexml.MaxDepth {
			t.Fatalf("%d nodes, depth %d", nodes, depth)
		}
		var b strings.Builder
		write(&b, el)
		again, err := safexml.Parse([]byte(b.String()), 0)
		if err != nil {
			t.Fatalf("%v reading back %q", err, b.String())
		}
		if got, want := shape(again), shape(el); got != want {
			t.Fatalf("\n got %s\nwant %s", got, want)
		}
	})
}

func measure(el *safexml.Element) (nodes, depth int) {
	nodes = 1 + len(el.Attrs)
	for _, c := range el.Children {
		n, d := measure(c)
		nodes, depth = nodes+n, max(depth, d)
	}
	return nodes, depth + 1
}

// write renders names and texts; attributes with a prefix are left out.
func write(b *strings.Builder, el *safexml.Element) {
	b.WriteString("<" + el.Name + ` xmlns="`)
	_ = xml.EscapeText(b, []byte(el.Space))
	b.WriteString(`">`)
	at := el.TextAt
	for i, c := range el.Children {
		if i == at {
			_ = xml.EscapeText(b, []byte(el.Text))
		}
		write(b, c)
	}
	if at < 0 || at >= len(el.Children) {
		_ = xml.EscapeText(b, []byte(el.Text))
	}
	b.WriteString("</" + el.Name + ">")
}

// shape is dump without attributes and without blank text around children.
func shape(el *safexml.Element) string {
	var b strings.Builder
	b.WriteString(braced(el.Space) + el.Name)
	if el.TextAt >= 0 || len(el.Children) == 0 {
		b.WriteString("[" + el.Text + "]")
	}
	for _, c := range el.Children {
		b.WriteString("(" + shape(c) + ")")
	}
	return b.String()
}
