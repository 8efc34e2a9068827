package extproc

import (
	"context"
	"errors"
	"log/slog"

	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
	"github.com/causeway-pay/causeway/shared/id"
)

// phase is what of a request Envoy has told.
type phase int

const (
	begun phase = iota
	requestJudged
	requestDone
	responseJudged
	responseDone
	ended // answered by us
)

// trip is a request on its way. It belongs to the goroutine that serves its stream.
type trip struct {
	shell    *Processor
	level    policy.Level
	phase    phase
	exchange *engine.Exchange
	wraps    bool   // the answer's body is to be encrypted
	known    string // the id that core gave the request; "" for none
}

var (
	errOrder   = errors.New("extproc: Envoy sent a message out of turn")
	errMode    = errors.New("extproc: processing_mode must be BUFFERED for both bodies, with both headers sent, and not observability_mode")
	errForward = errors.New("extproc: forward_rules keep :method, :path or :status back")
)

// answer answers one message. An error ends the stream.
func (t *trip) answer(ctx context.Context, r *extprocv3.ProcessingRequest) (*extprocv3.ProcessingResponse, error) {
	if r.GetObservabilityMode() {
		return nil, errMode
	}
	switch m := r.GetRequest().(type) {
	case *extprocv3.ProcessingRequest_RequestHeaders:
		return t.requestHead(ctx, m.RequestHeaders, r.GetProtocolConfig())
	case *extprocv3.ProcessingRequest_RequestBody:
		return t.requestBody(ctx, m.RequestBody)
	case *extprocv3.ProcessingRequest_ResponseHeaders:
		return t.responseHead(ctx, m.ResponseHeaders, fromEnvoy(r.GetAttributes()))
	case *extprocv3.ProcessingRequest_ResponseBody:
		return t.responseBody(ctx, m.ResponseBody)
	}
	return nil, errMode // trailers, which nobody asked for
}

func (t *trip) requestHead(
	ctx context.Context, h *extprocv3.HttpHeaders, mode *extprocv3.ProtocolConfiguration,
) (*extprocv3.ProcessingResponse, error) {
	if t.phase != begun {
		return nil, errOrder
	}
	if mode.GetRequestBodyMode() != filterv3.ProcessingMode_BUFFERED || mode.GetResponseBodyMode() != filterv3.ProcessingMode_BUFFERED {
		return nil, errMode // a body would go on as it is, or be cut
	}
	read := readHead(h)
	head := read.request()
	if head.Method == "" || head.Path == "" {
		return nil, errForward
	}
	head.Level = t.level
	x, p := t.shell.cfg.Engine.Begin(ctx, head, func(ctx context.Context) (string, *engine.Problem) {
		return t.shell.cfg.Identify(ctx, read.fields)
	})
	if p != nil {
		return t.refuse(ctx, p), nil
	}
	t.exchange, t.phase = x, requestJudged
	if !read.body {
		t.phase = requestDone
	}
	if x.NeedsBody() { // Envoy holds the head back until it has the answer to the body
		return requestHead(nil), nil
	}
	return requestHead(x.Ops()), nil
}

func (t *trip) requestBody(ctx context.Context, b *extprocv3.HttpBody) (*extprocv3.ProcessingResponse, error) {
	if t.phase != requestJudged {
		return nil, errOrder
	}
	t.phase = requestDone
	if !t.exchange.NeedsBody() {
		return requestBody(nil), nil
	}
	body, p := t.exchange.Unwrap(ctx, b.GetBody())
	if p != nil {
		return t.refuse(ctx, p), nil
	}
	return requestBody(body), nil
}

func (t *trip) responseHead(ctx context.Context, h *extprocv3.HttpHeaders, local bool) (*extprocv3.ProcessingResponse, error) {
	unseen := t.phase == begun || t.phase == requestJudged && t.exchange.NeedsBody()
	if t.phase > requestDone || unseen && !local {
		return nil, errOrder // core can have answered only what was judged
	}
	if t.exchange == nil { // Envoy would not have the request at all
		t.phase = responseJudged
		return responseHead(nil), nil
	}
	read := readHead(h)
	head, ok := read.response()
	if !ok {
		return nil, errForward
	}
	if given := read.fields.Get("Request-Id"); isRequestID(given) {
		t.known = given
	}
	todo, p := t.exchange.BeginResponse(head)
	if p != nil {
		return t.refuse(ctx, p), nil
	}
	t.phase, t.wraps = responseJudged, todo.Wrap
	if !read.body {
		t.phase = responseDone
	}
	if !t.wraps {
		t.count(nil)
	}
	return responseHead(todo.Ops), nil
}

func (t *trip) responseBody(ctx context.Context, b *extprocv3.HttpBody) (*extprocv3.ProcessingResponse, error) {
	if t.phase != responseJudged {
		return nil, errOrder
	}
	t.phase = responseDone
	if !t.wraps {
		return responseBody(nil), nil
	}
	body, p := t.exchange.Wrap(b.GetBody())
	if p != nil {
		return t.refuse(ctx, p), nil
	}
	t.count(nil)
	return responseBody(body), nil
}

// fromEnvoy reports whether an answer is one of Envoy's own, which it has us look at too: a path that it does not take, a core that it does not
// reach. It says so where response_attributes ask for it.
func fromEnvoy(attributes map[string]*structpb.Struct) bool {
	details := attributes["envoy.filters.http.ext_proc"].GetFields()["response.code_details"].GetStringValue()
	return details != "" && details != "via_upstream"
}

// refuse has Envoy answer with a problem, and says in the log what was the cause when that was ours.
func (t *trip) refuse(ctx context.Context, p *engine.Problem) *extprocv3.ProcessingResponse {
	t.phase = ended
	requestID := t.known
	if requestID == "" {
		requestID = id.Format(id.Request, t.shell.cfg.IDs.Next())
	}
	if p.Cause != nil {
		t.shell.cfg.Log.ErrorContext(ctx, "mle-filter: refused", slog.String("code", p.Code), slog.String("reason", p.Reason),
			slog.String("request_id", requestID), slog.Any("error", p.Cause))
	}
	t.count(p)
	return immediate(p, requestID)
}

func (t *trip) count(p *engine.Problem) {
	var e shell.Exchange
	if t.exchange != nil {
		_, e.Alg = t.exchange.Key()
		e.Sealed = t.exchange.WrapsResponse()
	}
	if p != nil {
		e.Status, e.Code, e.Reason = p.Status, p.Code, p.Reason
	}
	t.shell.cfg.Observe(e)
}

// isRequestID keeps out of the log and of bodies what no service of ours gives.
func isRequestID(text string) bool {
	_, err := id.Parse(id.Request, text)
	return err == nil
}
