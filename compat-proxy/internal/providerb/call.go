package providerb

import (
	"context"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/compat-proxy/internal/rpc"
	"github.com/causeway-pay/causeway/shared/httpx"
)

var _ rpc.Dialect = (*Handler)(nil)

// Call serves a request that came by RPC. params is the body of the dialect's own request, with the
// id of its path as the member "id". A client that signs its requests signs the RPC request. The
// result is the body of the response, for any status.
func (h *Handler) Call(
	ctx context.Context, name string, params jsontext.Value, asked rpc.Asked,
) (jsontext.Value, error) {
	start, served, class := h.cfg.Clock.Now(), OperationNone, ClassBroken
	defer func() { h.cfg.Observe(served, class, h.cfg.Clock.Now().Sub(start)) }()
	i := slices.IndexFunc(operations, func(o operation) bool { return o.name == name })
	if i < 0 {
		class = ClassRefused
		return nil, rpc.ErrUnserved
	}
	out := h.called(ctx, operations[i], params, asked)
	served, class = name, out.class()
	httpx.EventFrom(ctx).SetOutcome(out.outcome)
	body, err := json.Marshal(h.numbered(out).body)
	return body, err
}

// called runs an operation that was called by its name.
func (h *Handler) called(ctx context.Context, op operation, params jsontext.Value, asked rpc.Asked) answer {
	now := h.cfg.Clock.Now()
	caller, holder, refusal, admitted := h.admit(ctx, auth.Request{
		Method: asked.Method, Host: asked.Host, Target: asked.Target, Header: asked.Header, Body: asked.Body,
	}, now)
	if !admitted {
		return refusal
	}
	var path struct {
		ID wire.Text `json:"id"`
	}
	if err := json.Unmarshal(params, &path); err != nil {
		return invalid("id").answer(now)
	}
	if path.ID == "" && slices.Contains(op.path, segmentID) {
		return missing("id").answer(now)
	}
	from := origin{header: asked.Header, caller: caller}
	if asked.Place > 0 {
		from.place = "/" + strconv.Itoa(asked.Place)
	}
	return h.run(op, params, from, call{ctx: ctx, id: string(path.ID), caller: caller, scopes: holder.Scopes, now: now})
}
