package providera

import (
	"bytes"
	"encoding/xml"
	"errors"
)

// element reads the content of an element of a document, up to its end.
type element interface{ read(d *xml.Decoder) error }

// fields are an element that has others: it returns the one of a name, nil to skip it. The
// documents of this package are read without reflection, which takes longer than a payment's other
// work.
type fields func(name string) element

func (f fields) read(d *xml.Decoder) error {
	for {
		token, err := d.Token()
		if err != nil {
			return err //nolint:wrapcheck // parse replaces it
		}
		switch t := token.(type) {
		case xml.EndElement:
			return nil
		case xml.StartElement:
			if of := f(t.Name.Local); of != nil {
				err = of.read(d)
			} else {
				err = d.Skip()
			}
			if err != nil {
				return err //nolint:wrapcheck // parse replaces it
			}
		}
	}
}

// text is the content of an element that must not repeat. The zero text is of an element that is
// missing.
type text struct {
	given bool
	value string
}

var errRepeated = errors.New("repeated element")

func (t *text) read(d *xml.Decoder) error {
	if t.given {
		return errRepeated
	}
	t.given = true
	var space [64]byte
	for content := space[:0]; ; {
		token, err := d.Token()
		if err != nil {
			return err //nolint:wrapcheck // parse replaces it
		}
		switch part := token.(type) {
		case xml.CharData:
			content = append(content, part...)
		case xml.StartElement:
			if err := d.Skip(); err != nil {
				return err //nolint:wrapcheck // parse replaces it
			}
		case xml.EndElement:
			t.value = string(bytes.TrimSpace(content)) // a search keeps it, and not the blanks around it
			return nil
		}
	}
}

// mostElements bounds the elements of one list, and mostAttributes the attributes of a document. An
// element in memory takes many times the bytes that announce it.
const mostElements, mostAttributes = 500, 10_000

// A list has fewer than 40 elements in a row, and fewer than 8 within each other.
const mostTags, mostDepth = 40 * mostElements, 16

// bounded reports whether a document has few enough elements, and few enough within each other. The
// decoder keeps each open element, also one that nothing reads.
func bounded(body []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(body))
	for tags, depth := 0, 0; ; {
		token, err := d.RawToken()
		if err != nil {
			return true // the end, or the decoder fails there, too
		}
		switch token.(type) {
		case xml.StartElement:
			tags, depth = tags+1, depth+1
		case xml.EndElement:
			depth--
		}
		if tags > mostTags || depth > mostDepth {
			return false
		}
	}
}

var errTooMany = errors.New("too many elements")

// tooMany is an element beyond the bound of its list.
type tooMany struct{}

func (tooMany) read(*xml.Decoder) error { return errTooMany }

// several are the elements of a name in a list.
func several[T any](list *[]T, name string, of func(*T, string) element) fields {
	return func(child string) element {
		switch {
		case child != name:
			return nil
		case len(*list) == mostElements:
			return tooMany{}
		}
		*list = append(*list, *new(T))
		one := &(*list)[len(*list)-1]
		return fields(func(field string) element { return of(one, field) })
	}
}

// only is an element that has one field.
func only(name string, of *text) fields {
	return func(child string) element {
		if child == name {
			return of
		}
		return nil
	}
}
