package extproc

import (
	"context"
	"errors"
	"net/http"
	"slices"

	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// phase is the progress of a request: the messages that Envoy has sent.
type phase int

const (
	begun phase = iota
	requestJudged
	requestDone
	responseJudged
	responsePasses // Envoy sends it to the client unchanged
	responseDone
	ended // the filter has responded
)

// trip is one request with its response. It belongs to the goroutine that serves its stream.
type trip struct {
	shell    *Processor
	stream   extprocv3.ExternalProcessor_ProcessServer
	first    *extprocv3.ProcessingRequest
	reply    *reply
	writer   http.ResponseWriter // reply, wrapped by the middleware
	request  *http.Request
	level    policy.Level
	phase    phase
	exchange *engine.Exchange
	cut      bool  // the request's body arrives incomplete if it is too long
	trailers bool  // trailers follow the body of the request
	status   int   // of core's response
	over     bool  // the stream must end with err
	err      error // nil only if Envoy has ended the stream
}

type tripKey struct{}

func tripFrom(ctx context.Context) *trip {
	t, _ := ctx.Value(tripKey{}).(*trip)
	return t
}

var (
	errOrder = errors.New("extproc: Envoy sent a message out of order")
	errMode  = errors.New(
		"extproc: processing_mode: want BUFFERED for both bodies and SEND for both headers, without observability_mode",
	)
	errForward = errors.New("extproc: forward_rules: allow :method, :path and :status")
)

// respond returns the response to one message. An error ends the stream.
func (t *trip) respond(ctx context.Context, r *extprocv3.ProcessingRequest) (*extprocv3.ProcessingResponse, error) {
	if r.GetObservabilityMode() {
		return nil, errMode
	}
	switch m := r.GetRequest().(type) {
	case *extprocv3.ProcessingRequest_RequestHeaders:
		return t.requestHead(ctx, m.RequestHeaders, r.GetProtocolConfig())
	case *extprocv3.ProcessingRequest_RequestBody:
		return t.requestBody(ctx, m.RequestBody)
	case *extprocv3.ProcessingRequest_RequestTrailers:
		return t.requestTrailers(ctx)
	case *extprocv3.ProcessingRequest_ResponseHeaders:
		return t.responseHead(ctx, m.ResponseHeaders, fromEnvoy(r.GetAttributes()))
	case *extprocv3.ProcessingRequest_ResponseBody:
		return t.responseBody(ctx, m.ResponseBody)
	}
	return nil, errOrder // such as the trailers of a response without the body to encrypt
}

func (t *trip) requestHead(
	ctx context.Context, h *extprocv3.HttpHeaders, mode *extprocv3.ProtocolConfiguration,
) (*extprocv3.ProcessingResponse, error) {
	if t.phase != begun {
		return nil, errOrder
	}
	if mode.GetRequestBodyMode() != filterv3.ProcessingMode_BUFFERED ||
		mode.GetResponseBodyMode() != filterv3.ProcessingMode_BUFFERED {
		return nil, errMode // otherwise a body would pass unchanged, or arrive incomplete
	}
	read := readHead(h)
	head := read.request()
	if head.Method == "" || head.Path == "" {
		return nil, errForward
	}
	head.Level, head.ClientAddress = t.level, httpx.ClientAddressFrom(ctx)
	x, p := t.shell.cfg.Engine.Begin(ctx, head, func(ctx context.Context) (string, *engine.Problem) {
		return t.shell.cfg.Identify(ctx, read.fields)
	})
	if p != nil {
		t.refuse(ctx, p)
		return nil, nil
	}
	httpx.EventFrom(ctx).SetTenant(x.Merchant())
	t.exchange, t.phase = x, requestJudged
	if !read.body {
		t.phase = requestDone
	}
	ops := x.Ops()
	switch {
	case x.NeedsBody():
		ops = nil // Envoy holds the head until it has the response to the body
		if err := admission.Await(ctx, t.sizeOf(head)); err != nil {
			t.refuse(ctx, shell.Unread(err))
			return nil, nil
		}
	case !x.WrapsResponse():
		// Its merchant is unknown here. Core shares its own slots between merchants.
		admission.Release(ctx)
	}
	response := requestHead(ops)
	response.ModeOverride, t.cut = modeOf(x), head.Length < 0
	if x.NeedsBody() && t.cut {
		// Envoy's limit of a buffered body does not apply to bytes that come before this response.
		response.ModeOverride.RequestBodyMode = filterv3.ProcessingMode_BUFFERED_PARTIAL
	}
	return response, nil
}

// sizeOf returns the number of bytes of a body that Envoy holds until it is complete.
func (t *trip) sizeOf(head engine.RequestHead) int64 {
	if head.Length >= 0 {
		return head.Length
	}
	return int64(t.shell.cfg.Engine.Settings().MaxBody)
}

// modeOf makes Envoy hold the bodies that the engine decrypts or encrypts. Envoy passes the others
// on as they arrive, and core admits their clients. modeOf also makes Envoy send the trailers after
// a held body. If they follow the head directly, Envoy sends no message of a body.
func modeOf(x *engine.Exchange) *filterv3.ProcessingMode {
	m := &filterv3.ProcessingMode{
		RequestHeaderMode: filterv3.ProcessingMode_SEND, ResponseHeaderMode: filterv3.ProcessingMode_SEND,
		RequestTrailerMode: filterv3.ProcessingMode_SKIP, ResponseTrailerMode: filterv3.ProcessingMode_SKIP,
	}
	if x.NeedsBody() {
		m.RequestBodyMode, m.RequestTrailerMode = filterv3.ProcessingMode_BUFFERED, filterv3.ProcessingMode_SEND
	}
	if x.WrapsResponse() {
		m.ResponseBodyMode, m.ResponseTrailerMode = filterv3.ProcessingMode_BUFFERED, filterv3.ProcessingMode_SEND
	}
	return m
}

func (t *trip) requestBody(ctx context.Context, b *extprocv3.HttpBody) (*extprocv3.ProcessingResponse, error) {
	if t.phase != requestJudged {
		return nil, errOrder
	}
	t.phase = requestDone
	if !t.exchange.NeedsBody() {
		return requestBody(nil), nil // this Envoy ignores the mode override
	}
	if err := admission.Arrived(ctx); err != nil {
		t.refuse(ctx, shell.Unread(err))
		return nil, nil
	}
	more := !b.GetEndOfStream()
	if t.cut && more && len(b.GetBody()) > leastPart { // core would receive the rest in the clear
		t.refuse(ctx, engine.TooLarge(int64(t.shell.cfg.Engine.Settings().MaxBody)))
		return nil, nil
	}
	body, p := t.exchange.Unwrap(ctx, b.GetBody())
	if p != nil {
		t.refuse(ctx, p)
		return nil, nil
	}
	if t.cut && more {
		// If Envoy's buffers are smaller than docs/envoy.md requires, the rest of the body follows.
		// Core must not read it as another request.
		body.Ops = slices.DeleteFunc(body.Ops, func(op engine.HeaderOp) bool { return op.Name == "content-length" })
	}
	shell.Unwrapped(ctx, t.exchange)
	t.trailers = more
	return requestBody(body), nil
}

// leastPart is the smallest allowed size of Envoy's buffers; see docs/envoy.md. A part of a body is
// longer. So a shorter body that does not end the stream is whole, and trailers follow.
const leastPart = 64<<10 - 1

// requestTrailers passes the trailers of a decrypted body on. It rejects trailers without a body,
// as an empty body.
func (t *trip) requestTrailers(ctx context.Context) (*extprocv3.ProcessingResponse, error) {
	if t.phase == requestJudged && t.exchange.NeedsBody() {
		return t.requestBody(ctx, &extprocv3.HttpBody{EndOfStream: true}) // an empty body is not a JWE
	}
	if !t.trailers {
		return nil, errOrder
	}
	t.trailers = false
	return requestTrailers(), nil
}

func (t *trip) responseHead(
	ctx context.Context, h *extprocv3.HttpHeaders, local bool,
) (*extprocv3.ProcessingResponse, error) {
	unseen := t.phase == begun || t.phase == requestJudged && t.exchange.NeedsBody()
	if t.phase > requestDone || unseen && !local {
		return nil, errOrder // core cannot have responded to a request that was not judged
	}
	read := readHead(h)
	head, ok := read.response()
	t.status = head.Status
	// Envoy rejected the request before the filter received it, or the body that gives the key.
	if t.exchange == nil || unseen && t.exchange.WrapsResponse() && !t.exchange.HasResponseKey() {
		t.pass(read.body)
		return responseHead(nil), nil
	}
	if !ok {
		return nil, errForward
	}
	httpx.AdoptRequestID(ctx, read.fields.Get("Request-Id"))
	httpx.AdoptIDs(ctx, read.fields)
	todo, p := t.exchange.BeginResponse(head)
	if p != nil {
		t.refuse(ctx, p)
		return nil, nil
	}
	if !todo.Wrap {
		t.count(nil)
		t.pass(read.body)
		return responseHead(todo.Ops), nil
	}
	t.phase = responseJudged
	return responseHead(todo.Ops), nil
}

func (t *trip) responseBody(ctx context.Context, b *extprocv3.HttpBody) (*extprocv3.ProcessingResponse, error) {
	if t.phase != responseJudged {
		return nil, errOrder
	}
	body, p := t.exchange.Wrap(b.GetBody())
	if p != nil {
		t.refuse(ctx, p)
		return nil, nil
	}
	t.count(nil)
	t.recordResponse(body.Bytes)
	return responseBody(body), nil
}

// late returns the response to a message that follows core's response, or nil if no such message is
// allowed. An Envoy that ignores the mode override sends the body of a response in the clear.
// Trailers follow an encrypted response, or a request to which Envoy itself has responded.
func (t *trip) late(r *extprocv3.ProcessingRequest) *extprocv3.ProcessingResponse {
	switch {
	case t.phase == responsePasses && r.GetResponseBody() != nil:
		t.phase = responseDone
		return responseBody(nil)
	case t.phase == responseDone && r.GetResponseTrailers() != nil:
		return responseTrailers()
	case t.trailers && r.GetRequestTrailers() != nil:
		t.trailers = false
		return requestTrailers()
	}
	return nil
}

// fromEnvoy reports whether Envoy itself wrote a response, for example if it rejects a path or
// cannot reach core. Envoy processes these too, and marks them if response_attributes requests it.
func fromEnvoy(attributes map[string]*structpb.Struct) bool {
	details := attributes["envoy.filters.http.ext_proc"].GetFields()["response.code_details"].GetStringValue()
	return details != "" && details != "via_upstream"
}

// refuse makes Envoy send a problem to the client.
func (t *trip) refuse(ctx context.Context, p *engine.Problem) {
	p = shell.Of(ctx, p)
	t.phase, t.reply.code = ended, p.Code
	shell.LogCause(ctx, t.shell.cfg.Log, p)
	t.count(p)
	if given := httpx.RequestIDFrom(ctx); given != "" { // core's id, if core has responded
		t.writer.Header().Set("Request-Id", given)
	}
	shell.SendProblem(t.writer, t.request, p)
}

func (t *trip) count(p *engine.Problem) { t.shell.cfg.Observe(shell.ExchangeOf(t.exchange, p)) }

// pass ends the trip of a response in the clear after its head. Envoy passes its body on to the
// client.
func (t *trip) pass(body bool) {
	t.recordResponse(nil)
	if body {
		t.phase = responsePasses
	}
}

// recordResponse records core's response in the event of the request, and ends the trip. Without a
// body the event has no size: Envoy passes it on.
func (t *trip) recordResponse(body []byte) {
	t.phase, t.reply.fromCore = responseDone, true
	t.writer.WriteHeader(t.status)
	_, _ = t.writer.Write(body) // it only counts the bytes
}

// endStream ends the stream with an error, or with nil if Envoy has ended it.
func (t *trip) endStream(ctx context.Context, err error, status int, outcome string) {
	t.over, t.err, t.reply.fromCore = true, err, true
	httpx.EventFrom(ctx).SetOutcome(outcome)
	t.writer.WriteHeader(status)
}
