package wire

import "log/slog"

// The codes of the failures that precede a method. Their responses have the root ErrorResponse and
// no refId.
const (
	CodeProcessing = "E00001"
	CodeSchema     = "E00003"
	CodeMethod     = "E00004"
	CodeNamespace  = "E00045"
)

// ErrorResponse is the root of a response to a request that did not reach a method.
const ErrorResponse = "ErrorResponse"

// TextProcessing is the text of CodeProcessing.
const TextProcessing = "An error occurred during processing. Please try again."

const (
	textMalformed = "An error occurred while parsing the XML request."
	textMethod    = "The name of the requested API method is invalid."
	textNamespace = "The root node does not reference a valid XML namespace."
)

// Fault is the refusal of a request before its method is reached.
type Fault struct {
	Format Format
	// Code is one of the Code constants. The HTTP status is 200 for all of them.
	Code string
	// Text is the message for the client, with secrets masked.
	Text string
}

// Bytes renders the ErrorResponse document, byte order mark included.
func (f *Fault) Bytes() []byte {
	d := Document{Root: ErrorResponse, ResultCode: ResultError, Messages: []Message{{Code: f.Code, Text: f.Text}}}
	return d.Bytes(f.Format)
}

// String returns the format and the code, never the text.
func (f *Fault) String() string {
	if f == nil {
		return "<nil fault>"
	}
	return f.Format.String() + " " + f.Code
}

// GoString is String.
func (f *Fault) GoString() string { return f.String() }

// LogValue groups format and code.
func (f *Fault) LogValue() slog.Value {
	if f == nil {
		return slog.StringValue(f.String())
	}
	return slog.GroupValue(slog.String("format", f.Format.String()), slog.String("code", f.Code))
}

// UnknownMethod returns the fault of a document whose root names no method.
func UnknownMethod(f Format) *Fault { return &Fault{Format: f, Code: CodeMethod, Text: textMethod} }

// Malformed returns the fault of a body that is not a document, or too large.
func Malformed(f Format) *Fault {
	if f == JSON {
		return &Fault{Format: f, Code: CodeProcessing, Text: TextProcessing}
	}
	return &Fault{Format: f, Code: CodeSchema, Text: textMalformed}
}
