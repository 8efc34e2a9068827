package engine_test

import (
	"maps"
	"net/http"
	"strconv"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
)

// TestCases runs the shared cases on the engine alone, through a shell without a transport.
func TestCases(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	e := w.Engine(t)
	enginetest.Run(t, w, func(t *testing.T, r enginetest.Request, core enginetest.Response) enginetest.Outcome {
		t.Helper()
		return exchange(t, e, r, core)
	})
}

func exchange(t *testing.T, e *engine.Engine, r enginetest.Request, core enginetest.Response) (out enginetest.Outcome) {
	t.Helper()
	head := engine.RequestHead{
		Method: r.Method, Path: r.Path, Fields: fields(r.Fields), Names: maps.Keys(fields(r.Fields)), Body: r.Body != "",
		Length: int64(len(r.Body)),
	}
	if r.NoLength {
		head.Length = -1
	}
	merchant := r.Caller
	if merchant == "" {
		merchant = enginetest.Merchant
	}
	x, p := e.Begin(t.Context(), head, enginetest.Call(merchant))
	if p != nil {
		return refusal(out, p)
	}
	out.Core, out.Body = fields(r.Fields), r.Body
	ops := x.Ops()
	if x.NeedsBody() {
		body, p := x.Unwrap(t.Context(), []byte(r.Body))
		if p != nil {
			return refusal(out, p)
		}
		ops, out.Body = body.Ops, string(body.Bytes)
	}
	apply(out.Core, ops)
	out.Reached = 1
	out.Status, out.Fields, out.Response = core.Status, fields(core.Fields), core.Body
	response, p := x.BeginResponse(engine.ResponseHead{
		Status: core.Status, Fields: out.Fields, Names: maps.Keys(out.Fields), Body: core.Body != "", Length: -1,
	})
	if p != nil {
		return refusal(out, p)
	}
	ops = response.Ops
	if response.Wrap {
		body, p := x.Wrap([]byte(core.Body))
		if p != nil {
			return refusal(out, p)
		}
		ops, out.Response = body.Ops, string(body.Bytes)
	}
	apply(out.Fields, ops)
	return out
}

func refusal(out enginetest.Outcome, p *engine.Problem) enginetest.Outcome {
	body := p.Body("req_0000000000001")
	out.Status, out.Response, out.Fields = p.Status, string(body), http.Header{}
	apply(out.Fields, p.Ops(body))
	return out
}

func fields(list []enginetest.Field) http.Header {
	h := http.Header{}
	for _, f := range list {
		h.Add(f.Name, f.Value)
	}
	return h
}

func apply(h http.Header, ops []engine.HeaderOp) {
	for _, op := range ops {
		if op.Del {
			h.Del(op.Name)
		} else {
			h.Set(op.Name, op.Value)
		}
	}
}

// TestFlipsLookEqual is the rest of row 15. If only the private key can detect a fault, the
// response has the same bytes for every fault.
func TestFlipsLookEqual(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	e := w.Engine(t)
	var first string
	for _, key := range []enginetest.Key{w.EC, w.RSA} {
		tokens := enginetest.Flips(t, key, "{}")
		tokens = append(tokens, enginetest.Flip{
			Name: "a wrong content key", Token: enginetest.Forge{Key: key, CEK: make([]byte, 16)}.Encrypt(t, "{}"),
		})
		for i, flip := range tokens {
			if key.Alg == engine.ECDHESA256KW && i == len(tokens)-1 {
				continue // the engine rejects the length without the key
			}
			r := enginetest.Request{Method: "POST", Path: enginetest.Path, Body: flip.Token, Fields: []enginetest.Field{
				{Name: "Content-Type", Value: "application/jose"}, {Name: "X-SVC-MLE", Value: "v1"},
			}}
			got := exchange(t, e, r, enginetest.Response{})
			if first == "" {
				first = strconv.Itoa(got.Status) + got.Response
			}
			if text := strconv.Itoa(got.Status) + got.Response; text != first {
				t.Errorf("%s, %s: got %s, want %s", key.Alg, flip.Name, text, first)
			}
		}
	}
}
