package extproc_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"

	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
)

var (
	requestTrailers = &extprocv3.ProcessingRequest{
		Request: &extprocv3.ProcessingRequest_RequestTrailers{RequestTrailers: &extprocv3.HttpTrailers{}},
	}
	responseTrailers = &extprocv3.ProcessingRequest{
		Request: &extprocv3.ProcessingRequest_ResponseTrailers{ResponseTrailers: &extprocv3.HttpTrailers{}},
	}
)

// exchange is an encrypted request whose client demands an encrypted response, and core's response.
type exchange struct {
	client       extprocv3.ExternalProcessorClient
	request      enginetest.Request
	body         *extprocv3.ProcessingRequest // not the end of the stream
	response     *extprocv3.ProcessingRequest
	responseBody *extprocv3.ProcessingRequest
}

func newExchange(t *testing.T) *exchange {
	t.Helper()
	w := enginetest.NewWorld(t)
	encrypted := enginetest.Forge{Key: w.EC}.Encrypt(t, "{}")
	head := messageOf(enginetest.Response{Status: 200}).proto()
	return &exchange{
		client:       dial(t, serve(t, processor(t, w.Engine(t), nil))),
		request:      josed(encrypted, enginetest.Field{Name: "X-SVC-MLE-Response", Value: "required"}),
		body:         requestMessages.body(&extprocv3.HttpBody{Body: []byte(encrypted)}),
		response:     responseMessages.head(&extprocv3.HttpHeaders{Headers: head}),
		responseBody: responseMessages.body(&extprocv3.HttpBody{Body: []byte(cleartext)}),
	}
}

// begin sends the head of a request and returns its stream and the mode that the processor wants.
func (e *exchange) begin(t *testing.T, r enginetest.Request) (*call, *filterv3.ProcessingMode) {
	t.Helper()
	stream, err := e.client.Process(withLevels(t, "optional"))
	if err != nil {
		t.Fatal(err)
	}
	c := &call{stream: stream}
	head := requestMessages.head(&extprocv3.HttpHeaders{Headers: requestOf(r).proto()})
	return c, c.must(t, head).GetModeOverride()
}

// TestTrailersAlone sends trailers instead of the body of an encrypted request.
func TestTrailersAlone(t *testing.T) {
	t.Parallel()
	e := newExchange(t)
	for name, r := range map[string]enginetest.Request{"Length": e.request, "NoLength": chunked(e.request)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, mode := e.begin(t, r)
			if mode.GetRequestTrailerMode() != filterv3.ProcessingMode_SEND {
				t.Errorf("mode = %v, want trailers to be sent", mode)
			}
			got := c.must(t, clone(requestTrailers)).GetImmediateResponse()
			if got.GetStatus().GetCode() != 400 || !bytes.Contains(got.GetBody(), []byte("mle_decrypt_failed")) {
				t.Errorf("got %v, want a refusal", got)
			}
		})
	}
}

// TestTrailers sends trailers after the bodies of an encrypted request and of its response.
func TestTrailers(t *testing.T) {
	t.Parallel()
	e := newExchange(t)
	for length, r := range map[string]enginetest.Request{"2": e.request, "": chunked(e.request)} {
		t.Run("length "+length, func(t *testing.T) {
			t.Parallel()
			c, mode := e.begin(t, r)
			got := c.must(t, clone(e.body)).GetRequestBody().GetResponse()
			if text := got.GetBodyMutation().GetBody(); string(text) != "{}" {
				t.Errorf("body = %q, want the plaintext", text)
			}
			if sent := valueIn(got.GetHeaderMutation(), "content-length"); sent != length {
				t.Errorf("content-length = %q, want %q", sent, length)
			}
			if c.must(t, clone(requestTrailers)).GetRequestTrailers() == nil {
				t.Error("the request's trailers were not passed on")
			}
			if mode.GetResponseTrailerMode() != filterv3.ProcessingMode_SEND {
				t.Errorf("mode = %v, want trailers to be sent", mode)
			}
			c.must(t, clone(e.response))
			c.must(t, clone(e.responseBody))
			if c.must(t, clone(responseTrailers)).GetResponseTrailers() == nil {
				t.Error("the response's trailers were not passed on")
			}
		})
	}
}

// valueIn returns the value that a mutation sets, or "".
func valueIn(m *extprocv3.HeaderMutation, name string) string {
	for _, set := range m.GetSetHeaders() {
		if set.GetHeader().GetKey() == name {
			return string(set.GetHeader().GetRawValue())
		}
	}
	return ""
}

// TestTrailersLate sends the trailers of a request after a response in the clear.
func TestTrailersLate(t *testing.T) {
	t.Parallel()
	e := newExchange(t)
	e.request.Fields = slices.DeleteFunc(
		e.request.Fields, func(f enginetest.Field) bool { return f.Name == "X-SVC-MLE-Response" },
	)
	c, _ := e.begin(t, e.request)
	c.must(t, e.body)
	c.must(t, e.response)
	if c.must(t, clone(requestTrailers)).GetRequestTrailers() == nil {
		t.Error("the trailers were not passed on")
	}
}

// TestTrailersOrder sends trailers in an order that no Envoy uses.
func TestTrailersOrder(t *testing.T) {
	t.Parallel()
	e := newExchange(t)
	for name, sent := range map[string][]*extprocv3.ProcessingRequest{
		"Twice":            {e.body, requestTrailers, requestTrailers},
		"NoResponseBody":   {e.body, e.response, responseTrailers},
		"OfResponseBefore": {responseTrailers},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := e.begin(t, e.request)
			for _, r := range sent[:len(sent)-1] {
				c.must(t, clone(r))
			}
			_, err := c.process(clone(sent[len(sent)-1]))
			wantStatus(t, err, codes.FailedPrecondition)
		})
	}
}

// TestPart sends a part of a body, which is as long as Envoy's least buffer.
func TestPart(t *testing.T) {
	t.Parallel()
	e := newExchange(t)
	c, _ := e.begin(t, chunked(e.request))
	part := requestMessages.body(&extprocv3.HttpBody{Body: bytes.Repeat([]byte("A"), 64<<10)})
	if got := c.must(t, part).GetImmediateResponse(); got.GetStatus().GetCode() != 413 {
		t.Errorf("got %v, want 413", got)
	}
}

func (c *call) must(t *testing.T, r *extprocv3.ProcessingRequest) *extprocv3.ProcessingResponse {
	t.Helper()
	response, err := c.process(r)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// TestEnvoyTrailers sends requests with trailers over HTTP/2. Envoy sends no message of a body if
// only trailers follow the head. A request without its body must not reach core as it came.
func TestEnvoyTrailers(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	envoy := startEnvoy(t, listener{Name: "mle", Socket: serve(t, processor(t, w.Engine(t), nil)), Timeout: "10s"})
	encrypted := enginetest.Forge{Key: w.EC}.Encrypt(t, "{}")
	length, none := strconv.Itoa(len(encrypted)), "" // without the field
	for name, tt := range map[string]struct {
		method, length string
		data           []string
		status         int // 201 if core must get the plaintext
	}{
		"no body":                           {"POST", none, nil, 400},
		"no body and length 0":              {"POST", "0", nil, 400},
		"no body of a GET":                  {"GET", none, nil, 400},
		"no body of a HEAD":                 {"HEAD", "0", nil, 400},
		"an empty frame":                    {"POST", none, []string{""}, 400},
		"an empty frame and length 0":       {"POST", "0", []string{""}, 400},
		"a body":                            {"POST", length, []string{encrypted}, 201},
		"a body of unknown length":          {"POST", none, []string{encrypted}, 201},
		"a body of unknown length in parts": {"POST", none, []string{encrypted[:9], encrypted[9:]}, 201},
	} {
		for _, when := range []string{"at once", "after the head was judged"} {
			t.Run(name+", "+when, func(t *testing.T) { //nolint:paralleltest // it counts Envoy's messages
				before := envoy.responses(t)
				c := dialHTTP2(t, envoy.at["mle"])
				c.head(t, tt.method, tt.length, hpack.HeaderField{Name: strings.ToLower(caseField), Value: t.Name()})
				envoy.core.mu.Lock()
				envoy.core.replies[t.Name()] = enginetest.Response{Status: 201, Body: "{}"}
				envoy.core.mu.Unlock()
				if when != "at once" {
					envoy.awaitResponses(t, before+1)
				}
				status, text := c.end(t, tt.data)
				envoy.core.mu.Lock()
				defer envoy.core.mu.Unlock()
				got := envoy.core.got[t.Name()]
				if status != tt.status || tt.status == 400 && tt.method != http.MethodHead &&
					!strings.Contains(text, "mle_decrypt_failed") {
					t.Errorf("got %d %s, want %d", status, text, tt.status)
				}
				if tt.status != 201 && got != nil {
					t.Errorf("core got %+v", got)
				}
				if tt.status == 201 && (got == nil || got.Body != "{}" || got.Core.Get("X-SVC-MLE") != "" || text != "{}") {
					t.Errorf("core got %+v and the client %s", got, text)
				}
			})
		}
	}
}

// TestEnvoyResponseTrailers has core send trailers over HTTP/2. If trailers replace the body, the
// head of a response must not pass if the client demanded it encrypted.
func TestEnvoyResponseTrailers(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	envoy := startEnvoy(t, listener{Name: "mle", Socket: serve(t, processor(t, w.Engine(t), nil)), Timeout: "10s"})
	for body, want := range map[string]int{"{}": 200, "": 503} {
		for _, demands := range []bool{false, true} {
			t.Run(fmt.Sprintf("%q %v", body, demands), func(t *testing.T) {
				t.Parallel()
				r := plain("GET", enginetest.Path, "", enginetest.Field{Name: "X-Level", Value: "http2"})
				if demands {
					r.Fields = append(r.Fields, enginetest.Field{Name: "X-SVC-MLE-Response", Value: "required"})
				}
				reply := enginetest.Response{Status: 200, Body: body, Fields: []enginetest.Field{
					{Name: "Trailer", Value: "X-Trailer"}, {Name: "X-Trailer", Value: "1"}, {Name: "ETag", Value: cleartext},
				}}
				out := envoy.send(t, h2, "mle", r, reply)
				switch {
				case !demands:
					if out.Status != 200 || out.Response != body {
						t.Errorf("got %d %s, want core's response", out.Status, out.Response)
					}
				case out.Reached != 1 || out.Status != want || out.Fields.Get("ETag") != "":
					t.Errorf("got %d requests to core and %d %v, want %d", out.Reached, out.Status, out.Fields, want)
				case want == 200:
					if _, text := w.ResponseKey.Decrypt(t, out.Response); text != body {
						t.Errorf("got %q", text)
					}
				}
			})
		}
	}
}

// clientHTTP2 sends one request by frames: net/http sends no trailers with a length of 0.
type clientHTTP2 struct {
	*http2.Framer
	block   bytes.Buffer
	encoder *hpack.Encoder
}

func dialHTTP2(t *testing.T, address string) *clientHTTP2 {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // the response was read
	c := &clientHTTP2{Framer: http2.NewFramer(conn, conn)}
	c.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.encoder = hpack.NewEncoder(&c.block)
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatal(err)
	}
	if err := c.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	return c
}

// head sends the head of an encrypted request. An empty length is not sent.
func (c *clientHTTP2) head(t *testing.T, method, length string, more ...hpack.HeaderField) {
	t.Helper()
	fields := append([]hpack.HeaderField{
		{Name: ":method", Value: method},
		{Name: ":scheme", Value: "http"},
		{Name: ":authority", Value: "core"},
		{Name: ":path", Value: enginetest.Path},
		{Name: "content-type", Value: "application/jose"},
		{Name: "x-svc-mle", Value: "v1"},
		{Name: "x-level", Value: "optional"},
	}, more...)
	if length != "" {
		fields = append(fields, hpack.HeaderField{Name: "content-length", Value: length})
	}
	c.fields(t, false, fields...)
}

func (c *clientHTTP2) fields(t *testing.T, end bool, fields ...hpack.HeaderField) {
	t.Helper()
	c.block.Reset()
	for _, f := range fields {
		if err := c.encoder.WriteField(f); err != nil {
			t.Fatal(err)
		}
	}
	h := http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.block.Bytes(), EndHeaders: true, EndStream: end}
	if err := c.WriteHeaders(h); err != nil {
		t.Fatal(err)
	}
}

// end sends the frames of the body and then trailers, and returns the response.
func (c *clientHTTP2) end(t *testing.T, data []string) (status int, text string) {
	t.Helper()
	for _, d := range data {
		if err := c.WriteData(1, false, []byte(d)); err != nil {
			t.Fatal(err)
		}
	}
	c.fields(t, true, hpack.HeaderField{Name: "x-trailer", Value: "1"})
	for {
		frame, err := c.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			if status, err = strconv.Atoi(f.PseudoValue("status")); err != nil {
				t.Fatal(err)
			}
		case *http2.DataFrame:
			text += string(f.Data())
		case *http2.RSTStreamFrame:
			return status, text
		default:
			continue
		}
		if frame.Header().Flags.Has(http2.FlagDataEndStream) {
			return status, text
		}
	}
}
