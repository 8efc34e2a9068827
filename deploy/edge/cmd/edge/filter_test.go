package main

import (
	"errors"
	"net"
	"strings"
	"sync"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// filter replaces mle-filter. It marks each request and passes it, unless the request's fields want
// a rejection. As mle-filter does, it makes Envoy hold only the bodies that are encrypted.
type filter struct {
	extprocv3.UnimplementedExternalProcessorServer

	mu    sync.Mutex
	words map[string]string // the policies of each path, from the metadata
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
	go func() { _ = server.Serve(l) }() // until Stop
	t.Cleanup(server.Stop)
	return f
}

// For these paths the filter ends its stream: before it passes the request, and after the response.
const (
	endsBefore = "/v1/ends-before"
	endsAfter  = "/v1/ends-after"
)

var errEnds = errors.New("the filter ends")

// Process handles one request.
func (f *filter) Process(stream extprocv3.ExternalProcessor_ProcessServer) error {
	for path := ""; ; {
		r, err := stream.Recv()
		if err != nil {
			return err
		}
		if head := r.GetRequestHeaders(); head != nil {
			path = pathOf(head)
		}
		if path == endsBefore || path == endsAfter && r.GetResponseHeaders() != nil {
			return errEnds
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

func (f *filter) head(stream extprocv3.ExternalProcessor_ProcessServer,
	h *extprocv3.HttpHeaders,
) *extprocv3.ProcessingResponse {
	path, refuse := pathOf(h), false
	mode := &filterv3.ProcessingMode{
		RequestHeaderMode: filterv3.ProcessingMode_SEND, ResponseHeaderMode: filterv3.ProcessingMode_SEND,
		RequestTrailerMode: filterv3.ProcessingMode_SKIP, ResponseTrailerMode: filterv3.ProcessingMode_SKIP,
	}
	for _, field := range h.GetHeaders().GetHeaders() {
		switch field.GetKey() {
		case "x-svc-refuse":
			refuse = true
		case "x-svc-mle":
			mode.RequestBodyMode = filterv3.ProcessingMode_BUFFERED
		case "x-svc-mle-response":
			mode.ResponseBodyMode = filterv3.ProcessingMode_BUFFERED
		}
	}
	f.mu.Lock()
	f.words[path] = strings.Join(metadata.ValueFromIncomingContext(stream.Context(), "x-mle-policy"), ",")
	f.mu.Unlock()
	if refuse {
		return &extprocv3.ProcessingResponse{
			Response: &extprocv3.ProcessingResponse_ImmediateResponse{ImmediateResponse: &extprocv3.ImmediateResponse{
				Status: &typev3.HttpStatus{Code: 400}, Body: []byte(`{"error":{"code":"mle_required"}}`), Details: "mle_required",
				Headers: &extprocv3.HeaderMutation{
					SetHeaders: []*corev3.HeaderValueOption{field("content-type", "application/json"), field("request-id", "req_1")},
				},
			}},
		}
	}
	return &extprocv3.ProcessingResponse{
		ModeOverride: mode,
		Response: &extprocv3.ProcessingResponse_RequestHeaders{RequestHeaders: &extprocv3.HeadersResponse{
			Response: &extprocv3.CommonResponse{HeaderMutation: &extprocv3.HeaderMutation{
				SetHeaders: []*corev3.HeaderValueOption{field("x-svc-int-proof", "filter")},
			}},
		}},
	}
}

// pathOf returns the path of a request without its query.
func pathOf(h *extprocv3.HttpHeaders) (path string) {
	for _, field := range h.GetHeaders().GetHeaders() {
		if field.GetKey() == ":path" {
			path, _, _ = strings.Cut(string(field.GetRawValue()), "?")
		}
	}
	return path
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
