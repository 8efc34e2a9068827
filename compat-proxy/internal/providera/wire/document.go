package wire

// bom begins every answer: some clients drop the first three bytes unseen.
const bom = "\xef\xbb\xbf"

// The two result codes of an answer; their case matters to typed clients.
const (
	ResultOK    = "Ok"
	ResultError = "Error"
)

// Kind says how JSON shows an element. XML shows all of them alike.
type Kind uint8

// The kinds of elements.
const (
	// Text is a JSON string.
	Text Kind = iota
	// Raw is a JSON number or boolean: Text holds the literal as JSON wants it.
	Raw
	// Group is a JSON object of its children.
	Group
	// List is a JSON array of its children, whose names JSON does not show.
	List
	// Many is an element that repeats: XML shows its children alone, JSON an array of them under its name.
	Many
)

// Element is one element of an answer.
//
// Empty Text is written as `<name />` and `""`; a Group without children as
// `<name />` and `{}`; a List without children as `<name />` and `[]`. An
// element that does not apply must be left out of the tree, and so must an empty
// Raw one, which clients with typed models cannot read.
type Element struct {
	Name string
	// Text is the content of Text and Raw elements.
	Text string
	Kind Kind
	// JSONOnly keeps the element out of XML (SupplementalDataQualificationIndicator).
	JSONOnly bool
	// JSONFirst puts the element before its siblings without the flag in JSON:
	// members of a derived type precede those of its base there.
	JSONFirst bool
	Children  []*Element
}

// Message is one entry of the top-level messages.
type Message struct {
	Code, Text string
}

// Document is one answer, ready to be rendered in either format.
type Document struct {
	// Root is the root name in XML, such as "createTransactionResponse".
	Root string
	// RefID is echoed when it is not nil, even when empty.
	RefID *string
	// ResultCode is ResultOK or ResultError.
	ResultCode string
	// Messages holds at least one entry.
	Messages []Message
	// Own holds the members of the method's response type, in schema order.
	Own []*Element
}

// TextElement is an element whose JSON form is a string.
func TextElement(name, text string) *Element { return &Element{Name: name, Text: text} }

// RawElement is an element whose JSON form is the literal itself.
func RawElement(name, literal string) *Element {
	return &Element{Name: name, Text: literal, Kind: Raw}
}

// GroupElement is an element with members.
func GroupElement(name string, children ...*Element) *Element {
	return &Element{Name: name, Kind: Group, Children: children}
}

// ListElement is a wrapper around items of one name.
func ListElement(name string, items ...*Element) *Element {
	return &Element{Name: name, Kind: List, Children: items}
}

// Bytes renders the document: byte order mark, no white space between elements,
// no trailing newline.
func (d *Document) Bytes(f Format) []byte {
	b := make([]byte, 0, 1536)
	b = append(b, bom...)
	if f == JSON {
		return d.appendJSON(b)
	}
	return d.appendXML(b)
}
