package providera

import (
	"bytes"
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/compat-proxy/internal/rpc"
	"github.com/causeway-pay/causeway/shared/httpx"
)

var _ rpc.Dialect = (*Handler)(nil)

// Call serves a request that came by RPC. params is the value under the method's name in the
// dialect's JSON. A caller with a bearer key may omit merchantAuthentication.
func (h *Handler) Call(
	ctx context.Context, name string, params jsontext.Value, sent rpc.Origin,
) (jsontext.Value, error) {
	authorization := sent.Header.Get("Authorization")
	start, method, class := h.cfg.Clock.Now(), MethodNone, ClassBroken
	defer func() { h.cfg.Observe(method, class, h.cfg.Clock.Now().Sub(start)) }()
	m, known := catalogue.Find(catalogue.ProviderA, name)
	if !known {
		class = ClassRefused
		return nil, rpc.ErrNotServed
	}
	req, fault := wire.Parse(wrap(name, params, authorization), h.parseOptions())
	if fault != nil {
		class = ClassRefused
		return nil, &rpc.ParamsError{Code: fault.Code, Text: fault.Text}
	}
	doc, outcome := h.respond(ctx, req, m, sent.Header, sent.Position)
	method, class = m.Name, outcome.class()
	httpx.EventFrom(ctx).SetOutcome(outcome.String())
	return bytes.TrimPrefix(doc.Bytes(wire.JSON), []byte("\xef\xbb\xbf")), nil
}

// wrap returns the request in the dialect's own form.
func wrap(name string, params jsontext.Value, authorization string) []byte {
	const login = `"merchantAuthentication"`
	inside := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(string(params)), "{"))
	if _, bearer := bearerKey(authorization); bearer && !strings.HasPrefix(inside, login) {
		if inside != "}" {
			inside = "," + inside
		}
		inside = login + `:{}` + inside
	}
	return []byte(`{"` + name + `":{` + inside + `}`)
}
