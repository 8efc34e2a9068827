package providera

import (
	"bytes"
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/dialect"
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
	var out []byte
	var err error
	h.cfg.Measure(func() (method, class string) {
		method, class, out, err = h.called(ctx, name, params, sent)
		return method, class
	})
	return out, err
}

// called is Call, and also returns the method and the class of the outcome.
func (h *Handler) called(
	ctx context.Context, name string, params jsontext.Value, sent rpc.Origin,
) (method, class string, out []byte, err error) {
	m, known := catalogue.Find(catalogue.ProviderA, name)
	if !known {
		return dialect.MethodNone, dialect.ClassRefused, nil, rpc.ErrNotServed
	}
	req, fault := wire.Parse(wrap(name, params, sent.Header.Get("Authorization")), h.parseOptions())
	if fault != nil {
		return dialect.MethodNone, dialect.ClassRefused, nil, &rpc.ParamsError{Code: fault.Code, Text: fault.Text}
	}
	doc, outcome := h.respond(ctx, req, m, sent.Header, sent.Position)
	httpx.EventFrom(ctx).SetOutcome(outcome.String())
	return m.Name, outcome.class(), bytes.TrimPrefix(doc.Bytes(wire.JSON), []byte(wire.BOM)), nil
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
