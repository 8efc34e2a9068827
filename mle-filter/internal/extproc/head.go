package extproc

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
)

// head is the head of a message from Envoy.
type head struct {
	pseudo map[string]string // the pseudo-headers, such as :method
	fields http.Header
	body   bool
	length int64
}

func readHead(h *extprocv3.HttpHeaders) head {
	out := head{pseudo: map[string]string{}, fields: http.Header{}, body: !h.GetEndOfStream(), length: -1}
	for _, field := range h.GetHeaders().GetHeaders() {
		name, value := field.GetKey(), valueOf(field)
		switch {
		case strings.HasPrefix(name, ":"):
			out.pseudo[name] = value
		case name == "content-type": // Envoy joins repeated fields into one
			for part := range strings.SplitSeq(value, ",") {
				out.fields.Add(name, strings.TrimSpace(part))
			}
		default:
			out.fields.Add(name, value)
		}
	}
	if n, err := strconv.ParseInt(out.fields.Get("Content-Length"), 10, 64); err == nil && n >= 0 {
		out.length = n
	}
	return out
}

// valueOf returns RawValue, which current versions of Envoy send, or else Value.
func valueOf(field *corev3.HeaderValue) string {
	if raw := field.GetRawValue(); len(raw) > 0 {
		return string(raw)
	}
	return field.GetValue()
}

func (h head) request() engine.RequestHead {
	path, _, _ := strings.Cut(h.pseudo[":path"], "?")
	return engine.RequestHead{
		Method: h.pseudo[":method"], Path: path, Fields: h.fields, Names: maps.Keys(h.fields), Body: h.body, Length: h.length,
	}
}

// response returns false if the status is missing: forward_rules can hide it.
func (h head) response() (out engine.ResponseHead, ok bool) {
	code, err := strconv.Atoi(h.pseudo[":status"])
	return engine.ResponseHead{
		Status: code, Fields: h.fields, Names: maps.Keys(h.fields), Body: h.body, Length: h.length,
	}, err == nil
}

// requestOf returns the request of a stream, from its first message, in the form that the
// middleware needs.
func requestOf(ctx context.Context, first *extprocv3.ProcessingRequest) *http.Request {
	head := readHead(first.GetRequestHeaders())
	in := head.request()
	r := &http.Request{Method: in.Method, URL: &url.URL{Path: in.Path}, Header: head.fields, Body: http.NoBody}
	return r.WithContext(ctx)
}
