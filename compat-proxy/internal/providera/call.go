package providera

import (
	"bytes"
	"context"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/dialect"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/compat-proxy/internal/rpc"
	"github.com/causeway-pay/causeway/shared/httpx"
)

var _ rpc.Dialect = (*Handler)(nil)

// Call serves a request that came by RPC. params is the value under the method's name in the
// dialect's JSON.
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
	document := slices.Concat([]byte(`{"`+name+`":`), params, []byte("}"))
	req, fault := wire.Parse(document, h.parseOptions(sent.Header))
	if fault != nil {
		return dialect.MethodNone, dialect.ClassRefused, nil, &rpc.ParamsError{Code: fault.Code, Text: fault.Text}
	}
	doc, outcome := h.respond(ctx, req, m, sent.Header, sent.Position)
	httpx.EventFrom(ctx).SetOutcome(outcome.String())
	return m.Name, outcome.class(), bytes.TrimPrefix(doc.Bytes(wire.JSON), []byte(wire.BOM)), nil
}
