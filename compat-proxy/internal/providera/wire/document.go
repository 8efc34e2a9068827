package wire

import (
	"slices"

	"github.com/beevik/etree"
)

// BOM is the byte order mark. It begins every response: some clients drop the first three bytes.
const BOM = "\xef\xbb\xbf"

// The two result codes of a response. Clients with typed models depend on their case.
const (
	ResultOK    = "Ok"
	ResultError = "Error"
)

// Form is the JSON form of an element. The XML form does not depend on it.
type Form uint8

// The forms of elements.
const (
	// Text is a JSON string.
	Text Form = iota
	// Raw is a JSON number or boolean: Text holds the literal.
	Raw
	// Group is a JSON object of its children.
	Group
	// List is a JSON array of its children, without their names.
	List
	// Repeated is an element that repeats. XML has only its children, JSON an array of them under its
	// name.
	Repeated
)

// Element is one element of a response: an etree element, and its form in JSON.
//
// Empty Text is written as `<name />` and `""`. A Group without children is `<name />` and `{}`. A
// List without children is `<name />` and `[]`. Leave an element that does not apply out of the
// tree, and an empty Raw one too: clients with typed models cannot read it.
type Element struct {
	etree.Element

	Form Form
	// JSONOnly leaves the element out of XML (SupplementalDataQualificationIndicator).
	JSONOnly bool
	// Depth is how many types the element's type is derived from, up to the one that has the
	// element. JSON writes the members of a derived type before the members of its base.
	Depth int
}

// Message is one entry of the top-level messages.
type Message struct {
	Code, Text string
}

// Document is one response, ready to be rendered in either format.
type Document struct {
	// Root is the root name in XML, such as "createTransactionResponse".
	Root string
	// RefID is echoed unless it is nil, even if it is empty.
	RefID *string
	// ResultCode is ResultOK or ResultError.
	ResultCode string
	// Messages holds at least one entry.
	Messages []Message
	// Own holds the members of the method's response type, in schema order.
	Own []*Element
}

// newElement returns an element with a text, if there is one, and children.
func newElement(name string, form Form, text string, children ...*Element) *Element {
	e := &Element{Element: etree.Element{Tag: name}, Form: form}
	if text != "" {
		e.CreateText(text)
	}
	e.Add(children...)
	return e
}

// Add adds children. They do not point to their parent, so a document can be rendered repeatedly.
func (e *Element) Add(children ...*Element) {
	e.Child = slices.Grow(e.Child, len(children))
	for _, c := range children {
		e.Child = append(e.Child, c)
	}
}

// TextElement returns an element that is a string in JSON.
func TextElement(name, text string) *Element { return newElement(name, Text, text) }

// RawElement returns an element that is the literal itself in JSON.
func RawElement(name, literal string) *Element { return newElement(name, Raw, literal) }

// GroupElement returns an element with members.
func GroupElement(name string, children ...*Element) *Element {
	return newElement(name, Group, "", children...)
}

// ListElement returns a wrapper around items of one name.
func ListElement(name string, items ...*Element) *Element {
	return newElement(name, List, "", items...)
}

// RepeatedElement returns items of one name without a wrapper.
func RepeatedElement(name string, items ...*Element) *Element {
	return newElement(name, Repeated, "", items...)
}

// MessagesElement returns the messages of a response or of one of its parts.
func MessagesElement(result string, messages ...Message) *Element {
	list := RepeatedElement("message")
	for _, m := range messages {
		list.Add(GroupElement("message", TextElement("code", m.Code), TextElement("text", m.Text)))
	}
	return GroupElement("messages", TextElement("resultCode", result), list)
}

// Bytes renders the document: byte order mark, no white space between elements, no trailing
// newline.
func (d *Document) Bytes(f Format) []byte {
	root, base := GroupElement(d.Root), d.base()
	if f == JSON {
		root.Add(d.Own...)
		root.Add(base...)
		return root.appendJSON(append(make([]byte, 0, 1536), BOM...))
	}
	root.Add(base...)
	root.Add(d.Own...)
	return root.document()
}

// base returns the members of the base type.
func (d *Document) base() []*Element {
	messages := MessagesElement(d.ResultCode, d.Messages...)
	if d.RefID == nil {
		return []*Element{messages}
	}
	return []*Element{TextElement("refId", *d.RefID), messages}
}
