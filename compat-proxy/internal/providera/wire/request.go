package wire

import (
	"log/slog"
)

// Namespace is the target namespace of the dialect.
const Namespace = "AnetApi/xml/v1/schema/AnetApiSchema.xsd"

// DefaultMaxBytes bounds a request body when Options.MaxBytes is 0.
const DefaultMaxBytes = 256 << 10

// Format is the notation of a request and its response.
type Format int

// The two notations.
const (
	XML Format = iota
	JSON
)

// String returns the name of the format.
func (f Format) String() string {
	if f == JSON {
		return "json"
	}
	return "xml"
}

// ContentType returns the Content-Type of a response in the format.
func ContentType(f Format) string {
	if f == JSON {
		return "application/json; charset=utf-8"
	}
	return "application/xml; charset=utf-8"
}

// Options configures Parse. The zero value is as strict as the provider.
type Options struct {
	// LenientOrder accepts children in any order. Unknown and repeated elements, choices, required
	// elements and facets are still checked.
	LenientOrder bool
	// Lenient reports whether the login of that name may send children in any order; nil means that no
	// login may. The name is not authenticated yet, and only decides how the document is parsed.
	Lenient func(login string) bool
	// LoginInHeader makes merchantAuthentication optional, for a request with a login in its header.
	LoginInHeader bool
	// MaxBytes bounds the body; 0 means DefaultMaxBytes.
	MaxBytes int
}

// Request is a request that fits the schema.
type Request struct {
	Format Format
	// Method is the root name, such as "createTransactionRequest".
	Method string
	// Root is the root element. A caller that needs it no longer should set it to the zero Node.
	Root Node
	// RefID is the client's reference to echo. It is nil if the client sent none, and a pointer to ""
	// if it sent an empty one, which is echoed empty.
	RefID *string
	// ClientID is the clientId to echo if the method does so; nil if absent.
	ClientID *string
}

// String returns the format and the method.
func (r *Request) String() string {
	if r == nil {
		return "<nil request>"
	}
	return r.Format.String() + " " + r.Method
}

// GoString is String.
func (r *Request) GoString() string { return r.String() }

// LogValue groups format and method.
func (r *Request) LogValue() slog.Value {
	if r == nil {
		return slog.StringValue(r.String())
	}
	return slog.GroupValue(slog.String("format", r.Format.String()), slog.String("method", r.Method))
}

// Parse reads a request. Exactly one of the results is nil. The fault has the format of the
// response.
func Parse(body []byte, o Options) (*Request, *Fault) {
	format, doc := Sniff(body)
	root, fault := read(format, doc, o)
	if fault != nil {
		return nil, fault
	}
	if namespaceOf(root) != Namespace {
		return nil, &Fault{Format: format, Code: CodeNamespace, Text: textNamespace}
	}
	t := methodType(root.Tag)
	if t == nil {
		return nil, UnknownMethod(format)
	}
	if o.LoginInHeader {
		t = withOptionalLogin(t)
	}
	n := Node{root}
	w := walker{lenient: o.LenientOrder || o.Lenient != nil && o.Lenient(n.Get("merchantAuthentication", "name"))}
	if text := w.element(root, t); text != "" {
		return nil, &Fault{Format: format, Code: CodeSchema, Text: text}
	}
	return &Request{
		Format: format, Method: root.Tag, Root: n,
		RefID: textOf(n.Child("refId")), ClientID: textOf(n.Child("clientId")),
	}, nil
}

// textOf returns the text of an optional element as it was sent. It does not point into the tree,
// which would keep the whole tree in memory.
func textOf(n Node) *string {
	if !n.Present() {
		return nil
	}
	text := n.Text()
	return &text
}
