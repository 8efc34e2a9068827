package extproc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"google.golang.org/grpc/codes"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/mle-filter/internal/extproc"
	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/telemetry"
)

const (
	callerTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerSpan  = "00f067aa0ba902b7"
	coreID      = "req_0000000000001"
)

// watched is a processor with the filter's middleware around it.
type watched struct {
	envoy *fakeEnvoy
	spans *tracetest.SpanRecorder
	ended chan struct{}

	mu  sync.Mutex
	log bytes.Buffer // guarded by mu
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(b)
}

func watch(t *testing.T, e *engine.Engine, bounds admission.Config, identify shell.Identify) *watched {
	t.Helper()
	w := &watched{spans: tracetest.NewSpanRecorder(), ended: make(chan struct{}, 9)}
	log, tracer := slog.New(slog.NewJSONHandler(w, nil)), telemetry.New(
		trace.NewTracerProvider(trace.WithSpanProcessor(w.spans)).Tracer("test"),
	)
	w.envoy = &fakeEnvoy{client: dial(t, serve(t, processor(t, e, func(c *extproc.Config) {
		c.Log, c.Identify = log, identify
		c.Around = func(h http.Handler) http.Handler {
			h = httpx.Recover(shell.Broken, log, admission.New(bounds).Handler(http.HandlerFunc(shell.Overloaded), h))
			h = httpx.Trace(tracer, httpx.LogRequests(log, clock.NewFake(enginetest.Noon), h))
			return withID(signalEnd(w.ended, h))
		}
	})))}
	return w
}

// signalEnd signals the end of a request, after the rest of its middleware.
func signalEnd(ended chan<- struct{}, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		ended <- struct{}{}
	})
}

// event returns the only event of a request that has ended, from the log.
func (w *watched) event(t *testing.T) (event map[string]any) {
	t.Helper()
	<-w.ended
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range strings.Lines(w.log.String()) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		if one["msg"] != "request" {
			continue
		}
		if event != nil {
			t.Errorf("got a second event: %s", line)
		}
		event = one
	}
	return event
}

func wantEvent(t *testing.T, got map[string]any, want map[string]any) {
	t.Helper()
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s: got %v, want %v, in %v", name, got[name], value, got)
		}
	}
}

// TestEvent checks that a request has one event and one span, as with the HTTP hop, and that
// neither reveals its content.
func TestEvent(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	traced := []enginetest.Field{{Name: "Traceparent", Value: "00-" + callerTrace + "-" + callerSpan + "-01"}, {
		Name: "X-SVC-MLE-Response", Value: "required",
	}}
	encrypted := josed(enginetest.Forge{Key: w.EC}.Encrypt(t, ciphertext), traced...)
	reply := enginetest.Response{
		Status: 201, Body: cleartext, Fields: []enginetest.Field{{Name: "Request-Id", Value: coreID}},
	}
	respond := func(*message) *message { return messageOf(reply) }
	for name, tt := range map[string]struct {
		r    enginetest.Request
		want map[string]any
	}{
		"encrypted": {encrypted, map[string]any{
			"level": "INFO", "status": 201.0, "outcome": "", "kid": w.EC.KID, "alg": "ECDH-ES+A256KW",
			"tenant": enginetest.Merchant, "request_id": coreID,
		}},
		"refused": {josed("a.b.c", traced...), map[string]any{
			"level": "INFO", "status": 400.0, "outcome": "mle_decrypt_failed", "kid": nil,
		}},
		"clear": {plain("POST", enginetest.Path, ciphertext, traced[0]), map[string]any{
			"status": 201.0, "outcome": "", "bytes": 0.0, "kid": nil,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := watch(t, w.Engine(t), admission.Config{Slots: 9}, byField)
			if _, err := seen.envoy.exchange(withLevels(t, "optional"), tt.r, respond); err != nil {
				t.Fatal(err)
			}
			event := seen.event(t)
			wantEvent(t, event, tt.want)
			wantEvent(
				t, event, map[string]any{"method": "POST", "route": shell.Route("POST", enginetest.Path), "trace_id": callerTrace},
			)
			for _, private := range []string{ciphertext, cleartext, tt.r.Body} {
				if strings.Contains(seen.log.String(), private) {
					t.Errorf("got %q in the log", private)
				}
			}
			spans := seen.spans.Ended()
			if len(spans) != 1 || spans[0].Parent().SpanID().String() != callerSpan ||
				spans[0].SpanContext().TraceID().String() != callerTrace {
				t.Errorf("got %v, want one span below the caller's", spans)
			}
		})
	}
}

// TestEventWithoutResponse checks that a request without a response also has an event.
func TestEventWithoutResponse(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	t.Run("ended by Envoy", func(t *testing.T) {
		t.Parallel()
		seen := watch(t, w.Engine(t), admission.Config{Slots: 9}, byField)
		ctx, cancel := context.WithCancel(withLevels(t, "optional"))
		seen.envoy.begin(ctx, t)
		cancel()
		wantEvent(t, seen.event(t), map[string]any{"status": 499.0, "outcome": "stream_ended"})
	})
	t.Run("a route that is set up wrong", func(t *testing.T) {
		t.Parallel()
		seen := watch(t, w.Engine(t), admission.Config{Slots: 9}, byField)
		_, err := seen.envoy.exchange(withLevels(t, "none"), plain("GET", enginetest.Path, ""), nil)
		wantStatus(t, err, codes.FailedPrecondition)
		wantEvent(t, seen.event(t), map[string]any{"status": 503.0, "outcome": "stream_refused", "level": "ERROR"})
	})
	t.Run("a fault of ours", func(t *testing.T) {
		t.Parallel()
		seen := watch(
			t, w.Engine(t), admission.Config{Slots: 9},
			func(context.Context, http.Header) (string, *engine.Problem) { panic(cleartext) },
		)
		out, err := seen.envoy.exchange(
			withLevels(t, "optional"),
			plain("GET", enginetest.Path, "", enginetest.Field{Name: "X-SVC-MLE-Response", Value: "required"}), nil,
		)
		if err != nil || out.Reached != 0 || out.Status != 500 || !strings.Contains(out.Response, `"internal_error"`) {
			t.Errorf("got %v, %d requests to core and %d %s", err, out.Reached, out.Status, out.Response)
		}
		wantEvent(t, seen.event(t), map[string]any{"status": 500.0, "outcome": "internal_error", "level": "ERROR"})
		if strings.Contains(seen.log.String(), cleartext) {
			t.Error("the log shows what the panic was about")
		}
	})
}

// begin sends the head of a request in the clear and stops there.
func (f *fakeEnvoy) begin(ctx context.Context, t *testing.T) {
	t.Helper()
	f.mustBegin(ctx, t, plain("POST", enginetest.Path, "{}"))
}

// mustBegin sends the head of a request, which the processor must not reject.
func (f *fakeEnvoy) mustBegin(ctx context.Context, t *testing.T, r enginetest.Request) {
	t.Helper()
	if refused := f.judge(ctx, t, r); refused != nil {
		t.Fatalf("got %d %s", refused.GetStatus().GetCode(), refused.GetBody())
	}
}

// judge sends the head of a request to the processor. It returns the rejection, or returns nil and
// leaves the stream open.
func (f *fakeEnvoy) judge(ctx context.Context, t *testing.T, r enginetest.Request) *extprocv3.ImmediateResponse {
	t.Helper()
	stream, err := f.client.Process(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m := requestOf(r)
	head := &extprocv3.HttpHeaders{Headers: m.proto(), EndOfStream: m.body == ""}
	response, err := (&call{stream: stream}).process(requestMessages.head(head))
	if err != nil {
		t.Fatal(err)
	}
	return response.GetImmediateResponse()
}

// TestLimit checks that at most concurrency requests are in progress. A further request gets 503
// with Retry-After, and the slot of an ended request is free again.
func TestLimit(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	seen := watch(t, w.Engine(t), admission.Config{Slots: 2}, byField)
	get := plain("GET", enginetest.Path, "")
	encrypted := plain("GET", enginetest.Path, "", enginetest.Field{Name: "X-SVC-MLE-Response", Value: "required"})
	ctx, cancel := context.WithCancel(withLevels(t, "optional"))
	seen.envoy.mustBegin(ctx, t, encrypted)
	seen.envoy.mustBegin(withLevels(t, "optional"), t, encrypted)
	out, err := seen.envoy.exchange(withLevels(t, "optional"), get, nil)
	if err != nil || out.Reached != 0 || out.Status != 503 || out.Fields.Get("Retry-After") != "1" ||
		!strings.Contains(out.Response, `"overloaded"`) ||
		out.Fields.Get("Content-Type") != "application/json" || out.Fields.Get("Request-Id") == "" {
		t.Errorf("got %v, %d requests to core and %d %v %s", err, out.Reached, out.Status, out.Fields, out.Response)
	}
	<-seen.ended
	cancel()
	<-seen.ended
	out, err = seen.envoy.exchange(
		withLevels(t, "optional"), get,
		func(*message) *message { return messageOf(enginetest.Response{Status: 200, Body: "{}"}) },
	)
	if err != nil || out.Status != 200 {
		t.Errorf("got %v and %d %s, want a free slot", err, out.Status, out.Response)
	}
}

// TestForwardedRequestsNeedNoSlot: requests in the clear hold no slot while their bodies arrive and
// while core works.
func TestForwardedRequestsNeedNoSlot(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	seen := watch(t, w.Engine(t), admission.Config{Slots: 1}, byField)
	for range 3 {
		seen.envoy.begin(withLevels(t, "optional"), t)
	}
}

// TestUnfinishedEncryptedBodies checks that an encrypted body that arrives at Envoy holds no slot.
// Envoy keeps it in memory, so it holds bytes of the unfinished bodies meanwhile.
func TestUnfinishedEncryptedBodies(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	const unit = 12 << 10 // the least share of a body
	seen := watch(t, w.Engine(t), admission.Config{Slots: 1, Bytes: 3 * unit}, byField)
	body := enginetest.Forge{Key: w.EC}.Encrypt(t, "{}")
	small, unknown := josed(body), chunked(josed(body))
	ctx, cancel := context.WithCancel(withLevels(t, "optional"))
	seen.envoy.mustBegin(ctx, t, small)
	wantOverloaded := func(r enginetest.Request) {
		t.Helper()
		refused := seen.envoy.judge(withLevels(t, "optional"), t, r)
		if refused.GetStatus().GetCode() != 503 || !strings.Contains(string(refused.GetBody()), `"overloaded"`) {
			t.Fatalf("got %v, want a refusal", refused)
		}
		<-seen.ended
	}
	wantOverloaded(unknown) // its body can be as long as max_body
	wantOverloaded(josed(strings.Repeat("a", 2*unit+1)))
	taken := func() {
		t.Helper()
		out, err := seen.envoy.exchange(withLevels(t, "optional"), small, func(*message) *message {
			return messageOf(enginetest.Response{Status: 200, Body: "{}"})
		})
		if err != nil || out.Status != 200 {
			t.Errorf("got %v and %d %s", err, out.Status, out.Response)
		}
		<-seen.ended
	}
	for range 3 { // each gives its bytes back
		taken()
	}
	cancel()
	<-seen.ended
	seen.envoy.mustBegin(withLevels(t, "optional"), t, josed(strings.Repeat("a", 3*unit)))
}
