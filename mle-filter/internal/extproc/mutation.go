package extproc

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
)

// mutation converts changes into Envoy's form. It sets only RawValue, because Envoy rejects a
// header with both RawValue and Value. It sets the append action, because by default Envoy adds to
// an existing field.
func mutation(ops []engine.HeaderOp) *extprocv3.HeaderMutation {
	m := &extprocv3.HeaderMutation{}
	for _, op := range ops {
		if op.Del {
			m.RemoveHeaders = append(m.RemoveHeaders, op.Name)
			continue
		}
		m.SetHeaders = append(m.SetHeaders, &corev3.HeaderValueOption{
			Header:       &corev3.HeaderValue{Key: op.Name, RawValue: []byte(op.Value)},
			AppendAction: corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD,
		})
	}
	return m
}

// common returns the response to a head or a body: changes to the head, and a new body unless body
// is nil.
func common(ops []engine.HeaderOp, body *engine.Body) *extprocv3.CommonResponse {
	c := &extprocv3.CommonResponse{Status: extprocv3.CommonResponse_CONTINUE}
	if body != nil {
		ops = body.Ops
		c.BodyMutation = &extprocv3.BodyMutation{Mutation: &extprocv3.BodyMutation_Body{Body: body.Bytes}}
		if len(body.Bytes) == 0 {
			c.BodyMutation.Mutation = &extprocv3.BodyMutation_ClearBody{ClearBody: true}
		}
	}
	if len(ops) > 0 {
		c.HeaderMutation = mutation(ops)
	}
	return c
}

func requestHead(ops []engine.HeaderOp) *extprocv3.ProcessingResponse {
	return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_RequestHeaders{
		RequestHeaders: &extprocv3.HeadersResponse{Response: common(ops, nil)},
	}}
}

func requestBody(body *engine.Body) *extprocv3.ProcessingResponse {
	return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_RequestBody{
		RequestBody: &extprocv3.BodyResponse{Response: common(nil, body)},
	}}
}

func requestTrailers() *extprocv3.ProcessingResponse {
	return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_RequestTrailers{
		RequestTrailers: &extprocv3.TrailersResponse{},
	}}
}

func responseHead(ops []engine.HeaderOp) *extprocv3.ProcessingResponse {
	return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_ResponseHeaders{
		ResponseHeaders: &extprocv3.HeadersResponse{Response: common(ops, nil)},
	}}
}

func responseBody(body *engine.Body) *extprocv3.ProcessingResponse {
	return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_ResponseBody{
		ResponseBody: &extprocv3.BodyResponse{Response: common(nil, body)},
	}}
}

func responseTrailers() *extprocv3.ProcessingResponse {
	return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_ResponseTrailers{
		ResponseTrailers: &extprocv3.TrailersResponse{},
	}}
}
