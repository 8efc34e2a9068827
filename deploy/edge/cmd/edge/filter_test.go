package main

import (
	"net"
	"strings"
	"sync"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// filter stands in for mle-filter: it lets everything by with a mark, but for what asks to be refused.
type filter struct {
	extprocv3.UnimplementedExternalProcessorServer

	mu    sync.Mutex
	words map[string]string // the policy that came with a path
}

func newFilter(t *testing.T, path string) *filter {
	t.Helper()
	f := &filter{words: map[string]string{}}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	extprocv3.RegisterExternalProcessorServer(server, f)
	go func() { _ = server.Serve(l) }() // until it is stopped
	t.Cleanup(server.Stop)
	return f
}

// Process is one request.
func (f *filter) Process(stream extprocv3.ExternalProcessor_ProcessServer) error {
	for {
		r, err := stream.Recv()
		if err != nil {
			return err
		}
		out := &extprocv3.ProcessingResponse{}
		switch m := r.GetRequest().(type) {
		case *extprocv3.ProcessingRequest_RequestHeaders:
			out = f.head(stream, m.RequestHeaders)
		case *extprocv3.ProcessingRequest_RequestBody:
			out.Response = &extprocv3.ProcessingResponse_RequestBody{RequestBody: &extprocv3.BodyResponse{}}
		case *extprocv3.ProcessingRequest_ResponseHeaders:
			out.Response = &extprocv3.ProcessingResponse_ResponseHeaders{ResponseHeaders: &extprocv3.HeadersResponse{}}
		case *extprocv3.ProcessingRequest_ResponseBody:
			out.Response = &extprocv3.ProcessingResponse_ResponseBody{ResponseBody: &extprocv3.BodyResponse{}}
		}
		if err := stream.Send(out); err != nil {
			return err
		}
	}
}

func (f *filter) head(stream extprocv3.ExternalProcessor_ProcessServer, h *extprocv3.HttpHeaders) *extprocv3.ProcessingResponse {
	path, refuse := "", false
	for _, field := range h.GetHeaders().GetHeaders() {
		switch field.GetKey() {
		case ":path":
			path, _, _ = strings.Cut(string(field.GetRawValue()), "?")
		case "x-svc-refuse":
			refuse = true
		}
	}
	f.mu.Lock()
	f.words[path] = strings.Join(metadata.ValueFromIncomingContext(stream.Context(), "x-mle-policy"), ",")
	f.mu.Unlock()
	if refuse {
		return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_ImmediateResponse{ImmediateResponse: &extprocv3.ImmediateResponse{
			Status: &typev3.HttpStatus{Code: 400}, Body: []byte(`{"error":{"code":"mle_required"}}`), Details: "mle_required",
			Headers: &extprocv3.HeaderMutation{SetHeaders: []*corev3.HeaderValueOption{field("content-type", "application/json"), field("request-id", "req_1")}},
		}}}
	}
	return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_RequestHeaders{RequestHeaders: &extprocv3.HeadersResponse{
		Response: &extprocv3.CommonResponse{HeaderMutation: &extprocv3.HeaderMutation{
			SetHeaders: []*corev3.HeaderValueOption{field("x-svc-int-proof", "filter")},
		}},
	}}}
}

func field(name, value string) *corev3.HeaderValueOption {
	return &corev3.HeaderValueOption{
		Header:       &corev3.HeaderValue{Key: name, RawValue: []byte(value)},
		AppendAction: corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD,
	}
}

func (f *filter) word(path string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.words[path]
}
