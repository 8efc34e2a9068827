package extproc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
)

// fakeEnvoy treats a processor as Envoy does, and rejects everything that Envoy would reject.
type fakeEnvoy struct {
	client extprocv3.ExternalProcessorClient
	// fixed ignores the processor's mode override, as an Envoy without allow_mode_override.
	fixed bool
}

// errBroken reports that the processor broke a rule of Envoy.
var errBroken = errors.New("fake Envoy")

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errBroken}, args...)...)
}

// message is a request or a response between client and core.
type message struct {
	fields []enginetest.Field // with the pseudo-headers
	body   string
}

func (m *message) header() http.Header {
	h := http.Header{}
	for _, f := range m.fields {
		if !strings.HasPrefix(f.Name, ":") {
			h.Add(f.Name, f.Value)
		}
	}
	return h
}

func (m *message) proto() *corev3.HeaderMap {
	out := &corev3.HeaderMap{}
	for _, f := range m.fields {
		out.Headers = append(out.Headers, &corev3.HeaderValue{Key: strings.ToLower(f.Name), RawValue: []byte(f.Value)})
	}
	return out
}

// call is one stream to the processor.
type call struct {
	stream extprocv3.ExternalProcessor_ProcessClient
	sent   bool
	fixed  bool                     // as in fakeEnvoy
	mode   *filterv3.ProcessingMode // the processor's override; nil for the configured mode
}

// process sends a message and returns the only response to it.
func (c *call) process(r *extprocv3.ProcessingRequest) (*extprocv3.ProcessingResponse, error) {
	if !c.sent {
		r.ProtocolConfig = &extprocv3.ProtocolConfiguration{
			RequestBodyMode: filterv3.ProcessingMode_BUFFERED, ResponseBodyMode: filterv3.ProcessingMode_BUFFERED,
		}
		c.sent = true
	}
	// Recv returns the end of a stream, with its status.
	if err := c.stream.Send(r); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return c.stream.Recv()
}

// exchange takes a request to core and its response back. Envoy would send 500 for an error.
func (f *fakeEnvoy) exchange(
	ctx context.Context, r enginetest.Request, core func(*message) *message,
) (out enginetest.Outcome, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // as Envoy ends streams
	stream, err := f.client.Process(ctx)
	if err != nil {
		return out, err
	}
	c := &call{stream: stream, fixed: f.fixed}
	request := requestOf(r)
	if refused, err := c.through(request, request.body != "", requestMessages); refused != nil || err != nil {
		return local(out, refused), err
	}
	out.Reached, out.Core, out.Body = 1, request.header(), request.body
	response := core(request)
	if refused, err := c.through(response, response.body != "", responseMessages); refused != nil || err != nil {
		return local(out, refused), err
	}
	out.Status, _ = strconv.Atoi(response.fields[0].Value)
	out.Fields, out.Response = response.header(), response.body
	return out, nil
}

func requestOf(r enginetest.Request) *message {
	m := &message{body: r.Body, fields: []enginetest.Field{
		{Name: ":method", Value: r.Method}, {Name: ":path", Value: r.Path}, {Name: ":scheme", Value: "http"},
	}}
	m.fields = append(m.fields, r.Fields...)
	if !r.NoLength && r.Body != "" {
		m.fields = append(m.fields, enginetest.Field{Name: "content-length", Value: strconv.Itoa(len(r.Body))})
	}
	return m
}

func local(out enginetest.Outcome, r *extprocv3.ImmediateResponse) enginetest.Outcome {
	m := &message{}
	if r != nil && apply(m, r.GetHeaders()) == nil {
		out.Status, out.Fields, out.Response = int(r.GetStatus().GetCode()), m.header(), string(r.GetBody())
	}
	return out
}

// messages create and read the messages of one direction.
type messages struct {
	head func(*extprocv3.HttpHeaders) *extprocv3.ProcessingRequest
	body func(*extprocv3.HttpBody) *extprocv3.ProcessingRequest
	// The responses to them; nil if the response has another type.
	headers func(*extprocv3.ProcessingResponse) *extprocv3.HeadersResponse
	bodies  func(*extprocv3.ProcessingResponse) *extprocv3.BodyResponse
	// The mode of their bodies.
	mode func(*filterv3.ProcessingMode) filterv3.ProcessingMode_BodySendMode
}

var requestMessages = messages{
	func(h *extprocv3.HttpHeaders) *extprocv3.ProcessingRequest {
		return &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestHeaders{RequestHeaders: h}}
	},
	func(b *extprocv3.HttpBody) *extprocv3.ProcessingRequest {
		return &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestBody{RequestBody: b}}
	},
	(*extprocv3.ProcessingResponse).GetRequestHeaders, (*extprocv3.ProcessingResponse).GetRequestBody,
	(*filterv3.ProcessingMode).GetRequestBodyMode,
}

var responseMessages = messages{
	func(h *extprocv3.HttpHeaders) *extprocv3.ProcessingRequest {
		return &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseHeaders{ResponseHeaders: h}}
	},
	func(b *extprocv3.HttpBody) *extprocv3.ProcessingRequest {
		return &extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseBody{ResponseBody: b}}
	},
	(*extprocv3.ProcessingResponse).GetResponseHeaders, (*extprocv3.ProcessingResponse).GetResponseBody,
	(*filterv3.ProcessingMode).GetResponseBodyMode,
}

// through passes a message through the processor, which changes it or responds instead of core.
func (c *call) through(m *message, body bool, side messages) (*extprocv3.ImmediateResponse, error) {
	response, err := c.process(side.head(&extprocv3.HttpHeaders{Headers: m.proto(), EndOfStream: !body}))
	if err != nil || response.GetImmediateResponse() != nil {
		return response.GetImmediateResponse(), c.unusual(err, response)
	}
	head := side.headers(response)
	if head == nil || head.GetResponse().GetBodyMutation() != nil {
		return nil, broken("a head got the response %v", response)
	}
	if mode := response.GetModeOverride(); mode != nil && !c.fixed {
		c.mode = mode
	}
	response.ModeOverride = nil // only heads may have one
	body = body && (c.mode == nil || side.mode(c.mode) != filterv3.ProcessingMode_NONE)
	if err := errors.Join(c.unusual(nil, response), change(m, head.GetResponse(), body)); err != nil || !body {
		return nil, err
	}
	response, err = c.process(side.body(&extprocv3.HttpBody{Body: []byte(m.body), EndOfStream: true}))
	if err != nil || response.GetImmediateResponse() != nil {
		return response.GetImmediateResponse(), c.unusual(err, response)
	}
	if side.bodies(response) == nil {
		return nil, broken("a body got the response %v", response)
	}
	return nil, errors.Join(c.unusual(nil, response), change(m, side.bodies(response).GetResponse(), false))
}

// unusual rejects parts that the processor never sends.
func (c *call) unusual(err error, a *extprocv3.ProcessingResponse) error {
	switch {
	case err != nil:
		return err
	case a.GetModeOverride() != nil, a.GetDynamicMetadata() != nil, a.GetOverrideMessageTimeout() != nil:
		return broken("%v", a)
	}
	return nil
}

// change applies the processor's changes. If more is true, the length is not checked yet.
func change(m *message, r *extprocv3.CommonResponse, more bool) error {
	if r.GetStatus() != extprocv3.CommonResponse_CONTINUE || r.GetTrailers() != nil || r.GetClearRouteCache() {
		return broken("%v", r)
	}
	if err := apply(m, r.GetHeaderMutation()); err != nil {
		return err
	}
	if b := r.GetBodyMutation(); b != nil {
		if m.body = string(b.GetBody()); b.GetStreamedResponse() != nil || b.GetClearBody() && len(b.GetBody()) > 0 {
			return broken("%v", b)
		}
	}
	if length := m.header().Values("Content-Length"); !more && len(length) > 0 &&
		(len(length) > 1 || length[0] != strconv.Itoa(len(m.body))) {
		return broken("content-length %v of a body of %d", length, len(m.body))
	}
	return nil
}

func apply(m *message, h *extprocv3.HeaderMutation) error {
	for _, name := range h.GetRemoveHeaders() {
		if forbidden(name) {
			return broken("%s removed", name)
		}
		m.fields = slices.DeleteFunc(m.fields, func(f enginetest.Field) bool { return strings.EqualFold(f.Name, name) })
	}
	for _, set := range h.GetSetHeaders() {
		name, value := set.GetHeader().GetKey(), set.GetHeader().GetRawValue()
		switch {
		case forbidden(name):
			return broken("%s set", name)
		case set.GetHeader().GetValue() != "":
			return broken("%s has a value that is not raw", name)
		case set.GetAppendAction() != corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD:
			return broken("%s is appended", name)
		case !utf8.Valid(value) || bytes.ContainsAny(value, "\r\n\x00"):
			return broken("%s is %q", name, value)
		}
		m.fields = slices.DeleteFunc(m.fields, func(f enginetest.Field) bool { return strings.EqualFold(f.Name, name) })
		m.fields = append(m.fields, enginetest.Field{Name: name, Value: string(value)})
	}
	return nil
}

// forbidden reports the fields that the edge's mutation_rules do not let a processor change.
func forbidden(name string) bool {
	return name == "" || name != strings.ToLower(name) || name[0] == ':' || name == "host" || name == "authorization" ||
		name == "cookie" ||
		strings.HasPrefix(name, "x-forwarded-") || strings.HasPrefix(name, "x-envoy-")
}
