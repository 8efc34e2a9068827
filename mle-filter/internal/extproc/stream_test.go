package extproc_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/mle-filter/internal/extproc"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
)

func plain(method, path, body string, more ...enginetest.Field) enginetest.Request {
	return enginetest.Request{
		Method: method, Path: path, Body: body,
		Fields: append([]enginetest.Field{{Name: "Content-Type", Value: "application/json"}}, more...),
	}
}

// TestLevel checks that the stricter of the route's level and the table applies, and that a route
// without a level requires encryption.
func TestLevel(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	envoy := &fakeEnvoy{client: dial(t, serve(t, processor(t, w.Engine(t), nil)))}
	encrypted := plain(
		"POST", enginetest.Path, enginetest.Forge{Key: w.EC}.Encrypt(t, "{}"),
		enginetest.Field{Name: "X-SVC-MLE", Value: "v1"},
	)
	encrypted.Fields[0].Value = "application/jose"
	on := func(r enginetest.Request, path string) enginetest.Request {
		r.Path = path
		return r
	}
	clear, get := plain("POST", enginetest.Path, "{}"), plain("GET", enginetest.Path, "")
	for name, tt := range map[string]struct {
		level []string
		r     enginetest.Request
		code  string // "" if core is reached
	}{
		"no level, in the clear":             {nil, clear, "mle_required"},
		"no level, encrypted":                {nil, encrypted, ""},
		"no level, no body":                  {nil, get, ""},
		"required":                           {[]string{"required"}, clear, "mle_required"},
		"optional":                           {[]string{"optional"}, clear, ""},
		"optional, the table requires it":    {[]string{"optional"}, on(clear, enginetest.PathRequired), "mle_required"},
		"off, in the clear":                  {[]string{"off"}, clear, ""},
		"off, encrypted":                     {[]string{"off"}, encrypted, "mle_not_supported"},
		"off, the table requires it":         {[]string{"off"}, on(clear, enginetest.PathRequired), "mle_required"},
		"off, the table requires a response": {[]string{"off"}, on(get, enginetest.PathResponse), "mle_required"},
		"off in the table alone":             {[]string{"required"}, on(clear, enginetest.PathOff), "mle_required"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := envoy.exchange(withLevels(t, tt.level...), tt.r, func(*message) *message {
				return messageOf(enginetest.Response{Status: 200, Body: "{}"})
			})
			if err != nil {
				t.Fatal(err)
			}
			if tt.code == "" && (out.Reached != 1 || out.Body != "{}" && out.Body != "") || tt.code != "" &&
				(out.Reached != 0 || !strings.Contains(out.Response, tt.code)) {
				t.Errorf("got %d requests to core and %d %s, want %q", out.Reached, out.Status, out.Response, tt.code)
			}
		})
	}
	for name, level := range map[string][]string{"unknown": {"none"}, "empty": {""}, "twice": {"optional", "optional"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := envoy.exchange(withLevels(t, level...), get, nil)
			wantStatus(t, err, codes.FailedPrecondition)
		})
	}
}

func wantStatus(t *testing.T, err error, want codes.Code) {
	t.Helper()
	if got := status.Code(err); got != want || err == nil {
		t.Errorf("got %v, want %v", err, want)
	}
}

// TestOrder sends messages in an order that no correct Envoy uses. Every stream must end with an
// error: otherwise the request would pass.
func TestOrder(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	client := dial(t, serve(t, processor(t, w.Engine(t), nil)))
	m := messageOf(enginetest.Response{Status: 200, Body: "{}"})
	head := func(more bool) *extprocv3.ProcessingRequest {
		r := requestOf(plain("POST", enginetest.Path, "{}"))
		return requestMessages.head(&extprocv3.HttpHeaders{Headers: r.proto(), EndOfStream: !more})
	}
	encrypted := requestMessages.head(&extprocv3.HttpHeaders{Headers: requestOf(enginetest.Request{
		Method: "POST", Path: enginetest.Path, Fields: []enginetest.Field{
			{Name: "content-type", Value: "application/jose"}, {Name: "x-svc-mle", Value: "v1"},
		},
	}).proto()})
	body := requestMessages.body(&extprocv3.HttpBody{Body: []byte("{}"), EndOfStream: true})
	refused := requestMessages.head(
		&extprocv3.HttpHeaders{Headers: requestOf(plain("POST", enginetest.PathRequired, "{}")).proto()},
	)
	responseHead, responseBody := responseMessages.head(&extprocv3.HttpHeaders{Headers: m.proto()}), responseMessages.body(
		&extprocv3.HttpBody{Body: []byte("{}")},
	)
	done := responseMessages.head(&extprocv3.HttpHeaders{Headers: m.proto(), EndOfStream: true})
	statusless := responseMessages.head(&extprocv3.HttpHeaders{})
	watched := head(false)
	watched.ObservabilityMode = true
	for name, sent := range map[string][]*extprocv3.ProcessingRequest{
		"nothing":                               {{}},
		"a body first":                          {body},
		"a response first":                      {responseHead},
		"trailers":                              {head(false), requestTrailers},
		"a head twice":                          {head(true), head(true)},
		"a body after none":                     {head(false), body},
		"a body twice":                          {head(true), body, body},
		"a response before an encrypted body":   {encrypted, responseHead},
		"the body of a response without head":   {head(false), responseBody},
		"a response twice":                      {head(false), responseHead, responseHead},
		"a response's body twice":               {head(false), responseHead, responseBody, responseBody},
		"a body after a response without":       {head(false), done, responseBody},
		"a response without a status":           {head(false), statusless},
		"a head without a method":               {requestMessages.head(&extprocv3.HttpHeaders{EndOfStream: true})},
		"more after a refusal":                  {refused, body},
		"where our responses are not looked at": {watched},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stream, err := client.Process(withLevels(t, "optional"))
			if err != nil {
				t.Fatal(err)
			}
			c := &call{stream: stream}
			for _, r := range sent[:len(sent)-1] {
				if _, err := c.process(clone(r)); err != nil {
					t.Fatal(err)
				}
			}
			_, err = c.process(clone(sent[len(sent)-1]))
			wantStatus(t, err, codes.FailedPrecondition)
		})
	}
}

// clone copies a message for cases that share it, because call.process writes the mode into the
// first message of a stream.
func clone(r *extprocv3.ProcessingRequest) *extprocv3.ProcessingRequest {
	return &extprocv3.ProcessingRequest{Request: r.GetRequest(), ObservabilityMode: r.GetObservabilityMode()}
}

// TestMode checks that the processor rejects every mode in which bodies do not arrive whole.
func TestMode(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	client := dial(t, serve(t, processor(t, w.Engine(t), nil)))
	whole := filterv3.ProcessingMode_BUFFERED
	modes := []*extprocv3.ProtocolConfiguration{nil}
	for mode := range filterv3.ProcessingMode_BodySendMode_name {
		if other := filterv3.ProcessingMode_BodySendMode(mode); other != whole {
			modes = append(modes, &extprocv3.ProtocolConfiguration{RequestBodyMode: whole, ResponseBodyMode: other},
				&extprocv3.ProtocolConfiguration{RequestBodyMode: other, ResponseBodyMode: whole})
		}
	}
	for _, mode := range modes {
		stream, err := client.Process(withLevels(t, "optional"))
		if err != nil {
			t.Fatal(err)
		}
		head := requestMessages.head(
			&extprocv3.HttpHeaders{Headers: requestOf(plain("GET", "/", "")).proto(), EndOfStream: true},
		)
		head.ProtocolConfig = mode
		_, err = (&call{stream: stream, sent: true}).process(head)
		wantStatus(t, err, codes.FailedPrecondition)
	}
}

// TestFault checks that a fault of the filter ends the stream with an error that reveals no cause.
func TestFault(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	broken := processor(t, w.Engine(t), func(c *extproc.Config) {
		c.Identify = func(context.Context, http.Header) (string, *engine.Problem) { panic("4111111111111111") }
	})
	envoy := &fakeEnvoy{client: dial(t, serve(t, broken))}
	_, err := envoy.exchange(
		withLevels(t, "optional"),
		plain("GET", enginetest.Path, "", enginetest.Field{Name: "X-SVC-MLE-Response", Value: "required"}), nil,
	)
	wantStatus(t, err, codes.Internal)
	if strings.Contains(err.Error(), "4111") {
		t.Errorf("got %v", err)
	}
}

// TestEnd checks that a stream ended by Envoy is not a fault.
func TestEnd(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	stream, err := dial(t, serve(t, processor(t, w.Engine(t), nil))).Process(withLevels(t))
	if err != nil || stream.CloseSend() != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want the end", err)
	}
}

// TestObserve counts encrypted and rejected requests.
func TestObserve(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	seen := make(chan shell.Exchange, 9)
	envoy := &fakeEnvoy{client: dial(
		t, serve(t, processor(t, w.Engine(t), func(c *extproc.Config) { c.Observe = func(e shell.Exchange) { seen <- e } })),
	)}
	r := plain("POST", enginetest.Path, enginetest.Forge{Key: w.EC}.Encrypt(t, "{}"), enginetest.Field{
		Name: "X-SVC-MLE", Value: "v1",
	},
		enginetest.Field{Name: "X-SVC-MLE-Response", Value: "required"})
	r.Fields[0].Value = "application/jose"
	large := enginetest.Response{Status: 200, Body: strings.Repeat("x", 1<<20+1), Fields: []enginetest.Field{
		{Name: "Request-Id", Value: "req_0000000000001"},
	}}
	for _, reply := range []enginetest.Response{{Status: 200, Body: "{}"}, large} {
		out, err := envoy.exchange(withLevels(t), r, func(*message) *message { return messageOf(reply) })
		if err != nil {
			t.Fatal(err)
		}
		if out.Status == 500 && (out.Fields.Get("Request-Id") != "req_0000000000001" || !strings.Contains(
			out.Response, `"request_id":"req_0000000000001"`,
		)) {
			t.Errorf("got %v %s, want core's id", out.Fields, out.Response)
		}
	}
	got := []shell.Exchange{<-seen, <-seen}
	want := []shell.Exchange{{Alg: engine.ECDHESA256KW, WrapsResponse: true}, {
		Alg: engine.ECDHESA256KW, WrapsResponse: true, Status: 500, Code: "internal_error", Reason: "response_size",
	}}
	if !slices.Equal(got, want) || len(seen) != 0 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestListen checks that only the owner and the group can open the socket. A new server replaces
// the socket of a dead process, but not of a running one, and removes it at the end.
func TestListen(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	p, path := processor(t, w.Engine(t), nil), filepath.Join(folder(t), "s")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false) // as a dead process does
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	server, err := extproc.Listen(t.Context(), p, path, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != os.ModeSocket|0o660 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	if second, err := extproc.Listen(t.Context(), p, path, time.Minute); err == nil {
		t.Error("got a second server on the socket", second.Stop(t.Context()))
	}
	if err := server.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 0 {
		t.Errorf("got %v left, %v", left, err)
	}
	if _, err := extproc.Listen(t.Context(), p, filepath.Join(path, "s"), time.Minute); err == nil {
		t.Error("got a server where there is no folder")
	}
}

// TestSuccessor checks that the next server can take the socket, and keeps it, while a stopping
// server still has requests in progress.
func TestSuccessor(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	path, p := filepath.Join(folder(t), "s"), processor(t, w.Engine(t), nil)
	first, err := extproc.Listen(t.Context(), p, path, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(withLevels(t, "optional"))
	(&fakeEnvoy{client: dial(t, path)}).begin(ctx, t)
	stopped := make(chan error)
	go func() { stopped <- first.Stop(t.Context()) }()
	var second *extproc.Server
	for second == nil { // until the first server accepts no more
		second, _ = extproc.Listen(t.Context(), p, path, time.Minute)
	}
	end()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	ctx, end = context.WithCancel(withLevels(t, "optional"))
	(&fakeEnvoy{client: dial(t, path)}).begin(ctx, t)
	end()
	if err := second.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestStopCuts checks that an unfinished stream is cut after the drain time, with an error for
// Envoy.
func TestStopCuts(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	path := filepath.Join(folder(t), "s")
	server, err := extproc.Listen(t.Context(), processor(t, w.Engine(t), nil), path, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := dial(t, path).Process(withLevels(t, "optional"))
	if err != nil {
		t.Fatal(err)
	}
	c := &call{stream: stream}
	if _, err := c.process(
		requestMessages.head(&extprocv3.HttpHeaders{Headers: requestOf(plain("POST", "/", "{}")).proto()}),
	); err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(t.Context()); err == nil {
		t.Error("got a clean stop, want an error for the cut stream")
	}
	if _, err := stream.Recv(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("got %v, want an error", err)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	if _, err := extproc.New(extproc.Config{}); err == nil {
		t.Error("got a processor of nothing")
	}
	if (policy.Rule{Request: policy.Off, Response: policy.Off}).Combine("").Request != policy.Off {
		t.Error("the zero Level changes a rule")
	}
}
