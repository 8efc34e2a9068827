package telemetrytest

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is a span as it arrived. Ids are hexadecimal.
type Span struct {
	Resource   map[string]string // the attributes of the process, with service.name
	Scope      string            // the package that recorded it
	Name       string
	Kind       string // server, client or internal
	TraceID    string
	SpanID     string
	Parent     string // span id, "" for a root
	Links      []string
	Attributes map[string]string
	Failed     bool
	State      string // tracestate
}

// Collector is a running collector.
type Collector struct {
	URL string // for OTEL_EXPORTER_OTLP_ENDPOINT

	mu      sync.Mutex
	bytes   []byte        // guarded by mu
	spans   []Span        // guarded by mu
	headers []http.Header // guarded by mu
}

// New starts a collector that the test's end stops.
func New(tb testing.TB) *Collector {
	tb.Helper()
	c := &Collector{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.take(r); err != nil {
			tb.Errorf("collector: %v", err)
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	tb.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

func (c *Collector) take(r *http.Request) error {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			return err
		}
		body = unpacked
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	var batch collector.ExportTraceServiceRequest
	if err := proto.Unmarshal(data, &batch); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes = append(c.bytes, data...)
	c.headers = append(c.headers, r.Header.Clone())
	for _, resource := range batch.GetResourceSpans() {
		marks := words(resource.GetResource().GetAttributes())
		for _, scope := range resource.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				c.spans = append(c.spans, decode(marks, scope.GetScope().GetName(), s))
			}
		}
	}
	return nil
}

func decode(marks map[string]string, scope string, s *trace.Span) Span {
	kinds := map[trace.Span_SpanKind]string{
		trace.Span_SPAN_KIND_SERVER: "server", trace.Span_SPAN_KIND_CLIENT: "client",
		trace.Span_SPAN_KIND_INTERNAL: "internal",
	}
	out := Span{
		Resource: marks, Scope: scope, Name: s.GetName(), Kind: kinds[s.GetKind()],
		TraceID: hex.EncodeToString(s.GetTraceId()),
		SpanID:  hex.EncodeToString(s.GetSpanId()), Parent: hex.EncodeToString(s.GetParentSpanId()),
		Attributes: words(s.GetAttributes()),
		Failed:     s.GetStatus().GetCode() == trace.Status_STATUS_CODE_ERROR, State: s.GetTraceState(),
	}
	for _, l := range s.GetLinks() {
		out.Links = append(out.Links, hex.EncodeToString(l.GetSpanId()))
	}
	return out
}

func words(attributes []*common.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range attributes {
		switch v := a.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			out[a.GetKey()] = v.StringValue
		case *common.AnyValue_IntValue:
			out[a.GetKey()] = strconv.FormatInt(v.IntValue, 10)
		default:
			out[a.GetKey()] = "of another type"
		}
	}
	return out
}

// Spans returns the received spans, in the order of arrival.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Bytes returns all bodies that have arrived, unpacked.
func (c *Collector) Bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.bytes)
}

// Headers returns the header fields of each batch.
func (c *Collector) Headers() []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.headers)
}

// Named returns the spans of that name.
func (c *Collector) Named(name string) []Span {
	return slices.DeleteFunc(c.Spans(), func(s Span) bool { return s.Name != name })
}
