package telemetry

import (
	"context"
	"encoding/hex"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/trace"

	"github.com/causeway-pay/causeway/shared/card"
)

// The headers of W3C Trace Context, as net/http spells them.
const (
	headerParent = "Traceparent"
	headerState  = "Tracestate"
)

const (
	parentLength = 55  // of a traceparent of version 00
	maxState     = 512 // bytes of tracestate that are forwarded; a longer one is dropped completely
	maxMembers   = 32  // of a tracestate
)

// Remote is the trace context that a caller sent. The zero Remote is none.
type Remote struct {
	parent string // version 00
	state  string // checked and bounded, "" for none
}

// Parse reads a caller's trace context. It returns the zero Remote for an invalid context by W3C: a
// malformed or repeated traceparent, or ids of zeroes. It drops a tracestate without a traceparent,
// and a tracestate longer than 512 bytes. Of a later version it reads the part that version 00 has.
// An id with a card number in its digits is also invalid, because ids are written to logs and
// spans. Parse allocates nothing in the usual case.
func Parse(h http.Header) Remote {
	lines := h[headerParent]
	if len(lines) != 1 || !validParent(lines[0]) || card.Contains(lines[0]) {
		return Remote{}
	}
	parent := lines[0]
	if parent[:2] != "00" {
		parent = "00" + parent[2:parentLength]
	}
	return Remote{parent: parent, state: parseState(h[headerState])}
}

// IsZero reports whether the caller sent none.
func (r Remote) IsZero() bool { return r.parent == "" }

// TraceID is 32 hexadecimal digits, "" for none.
func (r Remote) TraceID() string {
	if r.IsZero() {
		return ""
	}
	return r.parent[3:35]
}

// SetHeaders passes on the caller's trace context, for a hop that records no span.
func (r Remote) SetHeaders(h http.Header) {
	if !r.IsZero() {
		h[headerParent] = []string{r.parent}
		r.SetState(h)
	}
}

// SetState passes on only the caller's tracestate, together with the traceparent of a span.
func (r Remote) SetState(h http.Header) {
	if r.state != "" {
		h[headerState] = []string{r.state}
	}
}

// under returns a context in which the next span is the caller's child. It does not contain the
// tracestate, so no span has it.
func (r Remote) under(ctx context.Context) context.Context {
	if r.IsZero() {
		return ctx
	}
	var c trace.SpanContextConfig
	_, errTrace := hex.Decode(c.TraceID[:], []byte(r.parent[3:35]))
	_, errSpan := hex.Decode(c.SpanID[:], []byte(r.parent[36:52]))
	var flags [1]byte
	_, errFlags := hex.Decode(flags[:], []byte(r.parent[53:55]))
	if errTrace != nil || errSpan != nil || errFlags != nil {
		return ctx // impossible: Parse has read them
	}
	c.TraceFlags, c.Remote = trace.TraceFlags(flags[0])&trace.FlagsSampled, true
	return trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(c))
}

func validParent(s string) bool {
	if len(s) < parentLength || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return false
	}
	version := s[:2]
	if !hexadecimal(version) || version == "ff" || version == "00" && len(s) != parentLength || len(s) > parentLength &&
		s[parentLength] != '-' {
		return false
	}
	return identifies(s[3:35]) && identifies(s[36:52]) && hexadecimal(s[53:55])
}

// identifies reports whether s is an id: lower-case hexadecimal digits, not all of them zero.
func identifies(s string) bool { return hexadecimal(s) && strings.Trim(s, "0") != "" }

func hexadecimal(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// parseState joins the lines of a tracestate, and returns "" if they cannot be one.
func parseState(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	state := lines[0]
	if len(lines) > 1 {
		state = strings.Join(lines, ",")
	}
	if len(state) > maxState || strings.Count(state, ",") >= maxMembers {
		return ""
	}
	if _, err := trace.ParseTraceState(state); err != nil {
		return ""
	}
	return state
}
