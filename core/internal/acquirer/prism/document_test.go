package prism_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// items are the names of the elements in provider-a's lists, by the name of the list. Any other
// list repeats its own name.
var items = map[string]string{"errors": "error", "messages": "message"}

// document returns provider-a's XML form of a response, which has the same names as its JSON form.
func document(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	root := "createTransactionResponse"
	if !strings.Contains(text, `"refId"`) {
		root = "ErrorResponse"
	}
	out.WriteString("\ufeff<" + root + ` xmlns="AnetApi/xml/v1/schema/AnetApiSchema.xsd">`)
	d := jsontext.NewDecoder(strings.NewReader(text))
	if err := write(&out, d, ""); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	out.WriteString("</" + root + ">")
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		t.Fatalf("%s: %v, want the end", text, err)
	}
	return out.String()
}

// write writes the next value as an element with a name, or without one for the root.
func write(out *strings.Builder, d *jsontext.Decoder, name string) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	begin, end := "<"+name+">", "</"+name+">"
	if name == "" {
		begin, end = "", ""
	}
	switch token.Kind() {
	case '{':
		out.WriteString(begin)
		for d.PeekKind() != '}' {
			member, err := d.ReadToken()
			if err != nil {
				return err
			}
			if err := write(out, d, member.String()); err != nil {
				return err
			}
		}
		out.WriteString(end)
	case '[':
		item, wrapped := items[name]
		if !wrapped {
			item, begin, end = name, "", ""
		}
		out.WriteString(begin)
		for d.PeekKind() != ']' {
			if err := write(out, d, item); err != nil {
				return err
			}
		}
		out.WriteString(end)
	default:
		out.WriteString(begin)
		if err := xml.EscapeText(out, []byte(token.String())); err != nil {
			return err
		}
		out.WriteString(end)
		return nil
	}
	_, err = d.ReadToken()
	return err
}
