package httphop

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/idempotency"
)

// rewrite makes the request to core from the client's request.
func (h *Hop) rewrite(pr *httputil.ProxyRequest) {
	t, out := tripFrom(pr.In.Context()), pr.Out
	out.URL.Scheme, out.URL.Host, out.Host = h.cfg.Upstream.Scheme, h.cfg.Upstream.Host, ""
	if h.cfg.KeepHost {
		out.Host = pr.In.Host
	}
	out.URL.RawQuery = pr.In.URL.RawQuery
	// v1 has no protocol to upgrade to, and an upgraded connection would bypass the engine.
	out.Header.Del("Upgrade")
	out.Header.Del("Connection")
	// Core does not read this header, and http.Transport repeats a request that has it.
	out.Header.Del("X-Idempotency-Key")
	apply(out.Header, t.ops) // after ReverseProxy has removed the fields that Connection names
	if t.body == nil {
		return
	}
	out.Header.Del("Expect")
	out.TransferEncoding, out.Trailer = nil, nil
	out.ContentLength = int64(len(t.body))
	out.Body = http.NoBody // without GetBody http.Transport does not repeat the request
	if len(t.body) > 0 {
		out.Body = io.NopCloser(bytes.NewReader(t.body))
	}
}

// modifyResponse makes the response to the client from core's response.
func (h *Hop) modifyResponse(response *http.Response) error {
	t := tripFrom(response.Request.Context())
	httpx.AdoptIDs(response.Request.Context(), response.Header) // before the engine removes the fields
	if t.sending.Repeated() && response.StatusCode/100 != 2 && len(response.Request.Header[idempotency.Header]) > 0 {
		return &refusal{shell.Problem(shell.CodeLost)} // core may have executed the first attempt
	}
	todo, p := t.exchange.BeginResponse(engine.ResponseHead{
		Status: response.StatusCode, Fields: fields(response.Header), Names: maps.Keys(response.Header),
		Length: response.ContentLength,
		Body:   response.ContentLength != 0 && response.Body != http.NoBody,
	})
	if p != nil {
		return &refusal{p}
	}
	ops := todo.Ops
	if todo.Wrap {
		body, err := h.wrap(t.exchange, response)
		if err != nil {
			return err
		}
		ops = body.Ops
		response.Body = io.NopCloser(bytes.NewReader(body.Bytes))
		response.ContentLength, response.TransferEncoding, response.Uncompressed = int64(len(body.Bytes)), nil, false
		response.Trailer = nil
		response.Header.Del("Trailer")
	}
	apply(response.Header, ops)
	if id := response.Header.Get("Request-Id"); id != "" {
		httpx.AdoptRequestID(response.Request.Context(), id)
	}
	for name := range response.Header { // core's fields replace the hop's
		t.writer.Header().Del(name)
	}
	h.cfg.Observe(shell.ExchangeOf(t.exchange, nil))
	return nil
}

// encrypting is how many bytes the encryption of a response needs for each of its bytes: the
// response, its ciphertext and its text in base64. Only the last remains.
const encrypting = 3

// wrap reads core's response and encrypts it by the engine. The request holds the memory for it.
func (h *Hop) wrap(x *engine.Exchange, response *http.Response) (*engine.Body, error) {
	ctx, method := response.Request.Context(), response.Request.Method
	if err := admission.Received(ctx, method, encrypting*response.ContentLength); err != nil {
		return nil, errors.Join(&refusal{shell.Unread(err)}, response.Body.Close())
	}
	received, err := readAtMost(response.Body, int64(h.cfg.Engine.Settings().MaxResponse), response.ContentLength)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	body, p := x.Wrap(received)
	if p != nil {
		return nil, &refusal{p}
	}
	_ = admission.Received(ctx, http.MethodPost, int64(len(body.Bytes))) // what remains is never refused
	return body, nil
}

// refusal carries a problem through the reverse proxy.
type refusal struct{ problem *engine.Problem }

func (r *refusal) Error() string { return "httphop: " + r.problem.Code }

// failed responds if core does not. Only a request that was never sent certainly had no effect.
func (h *Hop) failed(w http.ResponseWriter, r *http.Request, err error) {
	t := tripFrom(r.Context())
	var ours *refusal
	var slow net.Error
	switch {
	case errors.As(err, &ours):
		h.refuse(w, r, t.exchange, ours.problem)
	case t.sending.NeverSent(err):
		w.Header().Set(httpx.UnsentHeader, "1")
		h.refuse(w, r, t.exchange, shell.WithCause(shell.Problem(shell.CodeUnreachable), err))
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		h.refuse(w, r, t.exchange, shell.WithCause(shell.Problem(shell.CodeTimeout), err))
	default:
		h.refuse(w, r, t.exchange, shell.WithCause(shell.Problem(shell.CodeLost), err))
	}
}
