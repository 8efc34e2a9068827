package httphop

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Config holds the parts of a Hop. Engine and Identify are required, and one of Upstream and Core.
type Config struct {
	Engine   *engine.Engine
	Identify shell.Identify
	// Hop is the hop secret with which the program in front authenticates the client address; see
	// httpx.AddressOf.
	Hop secret.String
	// Upstream is the URL of core or compat-proxy, without a path.
	Upstream *url.URL
	// KeepHost forwards the client's Host field to Upstream. Clients of compat-proxy sign it.
	KeepHost bool
	// Transport carries requests to Upstream. Nil for NewTransport(nil).
	Transport http.RoundTripper
	// Core is core in the same process, instead of Upstream. A request without any encryption goes
	// directly to it, without middleware, copy or connection.
	Core http.Handler
	// Around adds the middleware of every request: an id, an event, a limit. Nil for none. Requests
	// that go directly to Core only have the middleware of Core.
	Around func(http.Handler) http.Handler
	// Observe is called for each encrypted or rejected exchange. It may be nil.
	Observe func(shell.Exchange)
	Log     *slog.Logger // nil for none
}

// Hop is the HTTP shell. It is safe for concurrent use.
type Hop struct {
	cfg   Config
	full  http.Handler
	proxy *httputil.ReverseProxy
}

// New returns a hop.
func New(cfg Config) (*Hop, error) {
	if cfg.Engine == nil || cfg.Identify == nil || (cfg.Upstream == nil) == (cfg.Core == nil) {
		return nil, errors.New("httphop: Engine, Identify, and one of Upstream and Core are required")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Observe == nil {
		cfg.Observe = func(shell.Exchange) {}
	}
	if cfg.Core != nil {
		cfg.Upstream, cfg.Transport = &url.URL{Scheme: "http", Host: "core"}, InProcess(cfg.Core)
	}
	if cfg.Transport == nil {
		cfg.Transport = NewTransport(nil)
	}
	h := &Hop{cfg: cfg}
	h.proxy = &httputil.ReverseProxy{
		Rewrite: h.rewrite, ModifyResponse: h.modifyResponse, ErrorHandler: h.failed, Transport: cfg.Transport,
		BufferPool: buffers{},
		// It repeats the event, and contains addresses.
		ErrorLog: slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
	}
	h.full = http.HandlerFunc(h.serve)
	if cfg.Around != nil {
		h.full = cfg.Around(h.full)
	}
	return h, nil
}

// ServeHTTP serves one request.
func (h *Hop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.cfg.Core == nil {
		h.full.ServeHTTP(w, r)
		return
	}
	t := h.begin(r)
	if t.problem == nil && !t.exchange.NeedsBody() && !t.exchange.WrapsResponse() {
		h.direct(w, r, t)
		return
	}
	h.full.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tripKey{}, t)))
}

// direct passes a request in the clear to core, which writes the response to the client. Core
// treats the client as its peer, not the hop: core would send a hop fields that are not for
// clients.
func (h *Hop) direct(w http.ResponseWriter, r *http.Request, t *trip) {
	if _, forwarded := r.Header[httpx.HopField]; forwarded {
		r.RemoteAddr = h.peerOf(r)
	}
	apply(r.Header, t.exchange.Ops())
	delete(r.Header, httpx.ClientAddressField)
	delete(r.Header, httpx.HopField)
	h.cfg.Core.ServeHTTP(w, r)
}

// peerOf returns the client address with a port, or "" if it is unknown.
func (h *Hop) peerOf(r *http.Request) string {
	address := h.addressOf(r)
	if address == "" {
		return ""
	}
	return net.JoinHostPort(address, "0")
}

// Guard passes requests to next, which is not core, if they need no encryption. It responds to the
// others.
func (h *Hop) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := h.begin(r)
		switch {
		case t.problem != nil:
			h.refuse(w, r, nil, t.problem)
		case t.exchange.NeedsBody() || t.exchange.WrapsResponse():
			h.refuse(w, r, nil, shell.Problem(shell.CodeInternal)) // impossible: encryption is off there
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// Clear passes requests in the clear to next, which is not core and supports no encryption. Only
// the rejections have the hop's middleware.
func (h *Hop) Clear(next http.Handler) http.Handler {
	var refused http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.refuse(w, r, nil, engine.RejectEncryption(fields(r.Header)))
	})
	if h.cfg.Around != nil {
		refused = h.cfg.Around(refused)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if engine.RejectEncryption(fields(r.Header)) != nil {
			refused.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// trip is one request with its response. It belongs to the goroutine that serves it.
type trip struct {
	exchange *engine.Exchange // nil if there is a problem
	problem  *engine.Problem
	writer   http.ResponseWriter
	ops      []engine.HeaderOp // changes to the request, made when it is forwarded
	body     []byte            // the body to forward; nil for none
	sending  httpx.Sending     // of the request to core
}

type tripKey struct{}

func tripFrom(ctx context.Context) *trip {
	t, _ := ctx.Value(tripKey{}).(*trip)
	return t
}

// begin lets the engine judge a request's head.
func (h *Hop) begin(r *http.Request) *trip {
	head := engine.RequestHead{
		Method: r.Method, Path: r.URL.EscapedPath(), Fields: fields(r.Header), Names: maps.Keys(r.Header),
		Length: r.ContentLength,
		Body:   r.ContentLength != 0 && r.Body != nil && r.Body != http.NoBody, ClientAddress: h.addressOf(r),
		Legacy: httpx.LegacyOf(h.cfg.Hop, r),
	}
	t := &trip{}
	t.exchange, t.problem = h.cfg.Engine.Begin(r.Context(), head, func(ctx context.Context) (string, *engine.Problem) {
		return h.cfg.Identify(httpx.WithClientAddress(ctx, h.cfg.Hop, r), r.Header)
	})
	return t
}

// addressOf returns the client address, even if the request has not passed httpx.ClientAddress.
func (h *Hop) addressOf(r *http.Request) string {
	if address := httpx.ClientAddressFrom(r.Context()); address != "" {
		return address
	}
	return httpx.AddressOf(h.cfg.Hop, r)
}

func (h *Hop) serve(w http.ResponseWriter, r *http.Request) {
	httpx.EventFrom(r.Context()).SetRoute(shell.Route(r.Method, r.URL.Path))
	if r.Method == http.MethodConnect {
		h.refuse(w, r, nil, shell.Problem(shell.CodeMethodNotAllowed))
		return
	}
	t := tripFrom(r.Context())
	if t == nil {
		t = h.begin(r)
		r = r.WithContext(context.WithValue(r.Context(), tripKey{}, t))
	}
	if t.problem != nil {
		h.refuse(w, r, t.exchange, t.problem)
		return
	}
	t.writer, t.ops = w, t.exchange.Ops()
	httpx.EventFrom(r.Context()).SetTenant(t.exchange.Merchant())
	if p := h.receive(w, r, t); p != nil {
		h.refuse(w, r, t.exchange, p)
		return
	}
	if !t.exchange.NeedsBody() && !t.exchange.WrapsResponse() {
		// Its merchant is unknown here. Core shares its own slots between merchants.
		admission.Release(r.Context())
	}
	h.proxy.ServeHTTP(w, r.WithContext(t.sending.Trace(r.Context())))
}

// receive reads the body, and decrypts it by the engine if it is encrypted. It also reads a body in
// the clear whole: its request must not hold a slot, here or in core, while the client sends it.
func (h *Hop) receive(w http.ResponseWriter, r *http.Request, t *trip) *engine.Problem {
	needed := t.exchange.NeedsBody()
	most := int64(h.cfg.Engine.Settings().MaxBody)
	if !needed {
		most = max(most, clearBody)
	}
	sent, err := admission.Read(w, r, most)
	if errors.Is(err, admission.ErrTooLarge) {
		return engine.TooLarge(most)
	}
	if p := shell.Unread(err); p != nil {
		return p
	}
	if err != nil {
		return shell.Problem(shell.CodeUnread) // the client's fault, so it is not logged
	}
	if !needed {
		t.body = sent
		return nil
	}
	body, p := t.exchange.Unwrap(r.Context(), sent)
	if p != nil {
		return p
	}
	shell.Unwrapped(r.Context(), t.exchange)
	t.ops, t.body = body.Ops, body.Bytes
	if t.body == nil {
		t.body = []byte{}
	}
	return nil
}

// clearBody is the longest body in the clear that core accepts.
const clearBody = 256 << 10

// readAtMost reads core's body, up to one byte more than allowed.
func readAtMost(body io.Reader, most, length int64) ([]byte, error) {
	size := min(max(length, 511), most) + 1
	buffer := make([]byte, 0, size)
	for limited := io.LimitReader(body, most+1); ; {
		n, err := limited.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if errors.Is(err, io.EOF) {
			return buffer, nil
		}
		if err != nil {
			return nil, err
		}
		if len(buffer) == cap(buffer) {
			buffer = append(buffer, 0)[:len(buffer)]
		}
	}
}

// refuse sends a problem, counts it, and logs its cause.
func (h *Hop) refuse(w http.ResponseWriter, r *http.Request, x *engine.Exchange, p *engine.Problem) {
	p = shell.Of(r.Context(), p)
	shell.LogCause(r.Context(), h.cfg.Log, p)
	h.cfg.Observe(shell.ExchangeOf(x, p))
	shell.SendProblem(w, r, p)
}
