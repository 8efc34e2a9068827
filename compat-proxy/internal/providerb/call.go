package providerb

import (
	"context"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/dialect"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/compat-proxy/internal/rpc"
	"github.com/causeway-pay/causeway/shared/httpx"
)

var _ rpc.Dialect = (*Handler)(nil)

// Call serves a request that came by RPC. params is the body of the dialect's own request, with the
// id of its path as the member "id". A client that signs its requests signs the RPC request. The
// result is the body of the response, for any status. Its links are below catalogue.PrefixB, where
// every proxy serves them.
func (h *Handler) Call(
	ctx context.Context, name string, params jsontext.Value, sent rpc.Origin,
) (jsontext.Value, error) {
	i := slices.IndexFunc(operations, func(o operation) bool { return o.Name == name })
	if i < 0 {
		h.cfg.Measure(func() (method, class string) { return dialect.MethodNone, dialect.ClassRefused })
		return nil, rpc.ErrNotServed
	}
	var out response
	h.cfg.Measure(func() (method, class string) {
		out = h.called(ctx, operations[i], params, sent)
		return name, out.class()
	})
	httpx.EventFrom(ctx).SetOutcome(out.outcome)
	body, err := json.Marshal(mounted(h.withNumber(out), catalogue.PrefixB).body)
	return body, err
}

// called runs an operation that was called by its name.
func (h *Handler) called(ctx context.Context, op operation, params jsontext.Value, sent rpc.Origin) response {
	now := h.cfg.Clock.Now()
	caller, holder, refusal, admitted := h.admit(ctx, auth.Request{
		Method: sent.Method, Host: sent.Host, Target: sent.Target, Header: sent.Header, Body: sent.Body,
	}, now)
	if !admitted {
		return refusal
	}
	var path struct {
		ID wire.Text `json:"id"`
	}
	if err := json.Unmarshal(params, &path); err != nil {
		return invalid("id").response(now)
	}
	if path.ID == "" && slices.Contains(op.path, segmentID) {
		return missing("id").response(now)
	}
	from := origin{header: sent.Header, caller: caller}
	if sent.Position > 0 {
		from.position = "/" + strconv.Itoa(sent.Position)
	}
	return h.run(op, params, from, newCall(ctx, string(path.ID), caller, holder, now))
}
