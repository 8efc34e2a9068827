package extproc_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
)

// The content sent on a broken stream. It must not arrive on the other side.
const (
	ciphertext = "ciphertext-of-the-client"
	cleartext  = "cleartext-of-core"
)

// The steps of a stream, by the messages that Envoy sends.
const (
	atRequestHead = iota
	atRequestBody
	atResponseHead
	atResponseBody
)

var steps = []string{"request head", "request body", "response head", "response body"}

// stepResponses make the valid response to the message of each step.
var stepResponses = []func(*extprocv3.CommonResponse) *extprocv3.ProcessingResponse{
	func(c *extprocv3.CommonResponse) *extprocv3.ProcessingResponse {
		return &extprocv3.ProcessingResponse{
			Response: &extprocv3.ProcessingResponse_RequestHeaders{RequestHeaders: &extprocv3.HeadersResponse{Response: c}},
		}
	},
	func(c *extprocv3.CommonResponse) *extprocv3.ProcessingResponse {
		return &extprocv3.ProcessingResponse{
			Response: &extprocv3.ProcessingResponse_RequestBody{RequestBody: &extprocv3.BodyResponse{Response: c}},
		}
	},
	func(c *extprocv3.CommonResponse) *extprocv3.ProcessingResponse {
		return &extprocv3.ProcessingResponse{
			Response: &extprocv3.ProcessingResponse_ResponseHeaders{ResponseHeaders: &extprocv3.HeadersResponse{Response: c}},
		}
	},
	func(c *extprocv3.CommonResponse) *extprocv3.ProcessingResponse {
		return &extprocv3.ProcessingResponse{
			Response: &extprocv3.ProcessingResponse_ResponseBody{ResponseBody: &extprocv3.BodyResponse{Response: c}},
		}
	},
}

// well returns the response of a working processor to the message of a step.
func well(step int) *extprocv3.ProcessingResponse {
	c := &extprocv3.CommonResponse{}
	if step == atRequestBody || step == atResponseBody {
		c.HeaderMutation = set("content-length", "2")
		c.BodyMutation = &extprocv3.BodyMutation{Mutation: &extprocv3.BodyMutation_Body{Body: []byte("ok")}}
	}
	return stepResponses[step](c)
}

func set(name, value string) *extprocv3.HeaderMutation {
	return &extprocv3.HeaderMutation{SetHeaders: []*corev3.HeaderValueOption{{
		Header:       &corev3.HeaderValue{Key: name, RawValue: []byte(value)},
		AppendAction: corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD,
	}}}
}

// faults are the faults of a processor at a step. The error ends the stream; errWell ends it
// without an error.
var (
	errWell = errors.New("the stream ends well")
	errKill = errors.New("the processor dies")
)

var faults = map[string]func(step int, stream extprocv3.ExternalProcessor_ProcessServer) error{
	"killed": func(int, extprocv3.ExternalProcessor_ProcessServer) error { return errKill },
	"hung": func(_ int, s extprocv3.ExternalProcessor_ProcessServer) error {
		<-s.Context().Done()
		return s.Context().Err()
	},
	"ended badly": func(int, extprocv3.ExternalProcessor_ProcessServer) error {
		return status.Error(codes.Internal, "no")
	},
	"the response of another step": func(step int, s extprocv3.ExternalProcessor_ProcessServer) error {
		return s.Send(stepResponses[(step+2)%4](nil))
	},
	"the response of the next step": func(step int, s extprocv3.ExternalProcessor_ProcessServer) error {
		return s.Send(stepResponses[(step+1)%4](nil))
	},
	"an empty response": func(_ int, s extprocv3.ExternalProcessor_ProcessServer) error {
		return s.Send(&extprocv3.ProcessingResponse{})
	},
	"a wrong length": func(step int, s extprocv3.ExternalProcessor_ProcessServer) error {
		return s.Send(stepResponses[step](&extprocv3.CommonResponse{
			HeaderMutation: set("content-length", "7"),
			BodyMutation:   &extprocv3.BodyMutation{Mutation: &extprocv3.BodyMutation_Body{Body: []byte("ok")}},
		}))
	},
	"a field that is not ours": func(step int, s extprocv3.ExternalProcessor_ProcessServer) error {
		return s.Send(stepResponses[step](&extprocv3.CommonResponse{HeaderMutation: set("authorization", "x")}))
	},
}

// faulty is a processor that responds correctly up to a step.
type faulty struct {
	extprocv3.UnimplementedExternalProcessorServer
	step int
	do   func(step int, stream extprocv3.ExternalProcessor_ProcessServer) error
	kill func()
}

func (f *faulty) Process(s extprocv3.ExternalProcessor_ProcessServer) error {
	for {
		r, err := s.Recv()
		if err != nil {
			return err
		}
		step := atRequestHead
		switch r.GetRequest().(type) {
		case *extprocv3.ProcessingRequest_RequestBody:
			step = atRequestBody
		case *extprocv3.ProcessingRequest_ResponseHeaders:
			step = atResponseHead
		case *extprocv3.ProcessingRequest_ResponseBody:
			step = atResponseBody
		}
		if step != f.step {
			err = s.Send(well(step))
		} else {
			err = f.do(step, s)
		}
		switch {
		case errors.Is(err, errWell):
			return nil
		case errors.Is(err, errKill):
			f.kill()
			return nil
		case err != nil:
			return err
		}
	}
}

// serveFaulty serves a faulty processor and returns the path of its socket.
func serveFaulty(t *testing.T, f *faulty) string {
	t.Helper()
	path := filepath.Join(folder(t), "s")
	var cfg net.ListenConfig
	l, err := cfg.Listen(context.WithoutCancel(t.Context()), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	tracked := &tracking{Listener: l, conns: make(chan net.Conn, 9)}
	f.kill = tracked.cut
	server := grpc.NewServer()
	extprocv3.RegisterExternalProcessorServer(server, f)
	go func() { _ = server.Serve(tracked) }() // it returns an error after Stop
	t.Cleanup(server.Stop)
	return path
}

// tracking is a listener that can cut its connections, as the kernel does if a process dies.
type tracking struct {
	net.Listener
	conns chan net.Conn
}

func (l *tracking) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.conns <- c
	}
	return c, err
}

func (l *tracking) cut() {
	_ = l.Close()
	for {
		select {
		case c := <-l.conns:
			_ = c.Close()
		default:
			return
		}
	}
}

// bodiless are the faults that only the response to a body can have: Envoy does not check the
// length before.
var bodiless = map[string]bool{"a wrong length": true}

// TestEnvoyFaults checks that with every fault but one, a real Envoy forwards neither the unchanged
// request nor core's response.
func TestEnvoyFaults(t *testing.T) {
	t.Parallel()
	all := []listener{{Name: "gone", Socket: filepath.Join(folder(t), "s"), Timeout: "12s"}}
	at := map[string]int{"gone": atRequestHead}
	for name, do := range faults {
		for step, called := range steps {
			if bodiless[name] && (step == atRequestHead || step == atResponseHead) {
				continue
			}
			l := listener{Name: name + " at the " + called, Socket: serveFaulty(t, &faulty{step: step, do: do}), Timeout: "12s"}
			if name == "hung" {
				l.Timeout = "0.2s"
			}
			all, at[l.Name] = append(all, l), step
		}
	}
	envoy := startEnvoy(t, all...)
	for name, step := range at {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, level := range []string{"", "off", "optional", "required"} {
				r := plain("POST", enginetest.Path, ciphertext, enginetest.Field{Name: "X-Level", Value: level})
				out := envoy.send(t, h1, name, r, enginetest.Response{Status: 200, Body: cleartext})
				if step <= atRequestBody && out.Reached != 0 || strings.Contains(out.Body, ciphertext) {
					t.Errorf("core got %d requests, and %q", out.Reached, out.Body)
				}
				want := http.StatusServiceUnavailable
				if strings.HasPrefix(name, "hung") {
					want = http.StatusGatewayTimeout
				}
				if out.Status != want || strings.Contains(out.Response, cleartext) {
					t.Errorf("the client got %d %q, want %d", out.Status, out.Response, want)
				}
			}
		})
	}
}

// TestEnvoyEndedWell is about that one fault. If the server ends a stream without an error, Envoy
// forwards the request, despite failure_mode_allow: false. So Process never does it, and core
// rejects requests without the proof. If this test fails, Envoy has become stricter: add the case
// to faults.
func TestEnvoyEndedWell(t *testing.T) {
	t.Parallel()
	var all []listener
	for step, called := range steps {
		end := func(int, extprocv3.ExternalProcessor_ProcessServer) error { return errWell }
		all = append(all, listener{Name: called, Socket: serveFaulty(t, &faulty{step: step, do: end}), Timeout: "12s"})
	}
	envoy := startEnvoy(t, all...)
	for step, called := range steps {
		t.Run(called, func(t *testing.T) {
			t.Parallel()
			out := envoy.send(
				t, h1, called, plain("POST", enginetest.Path, ciphertext), enginetest.Response{Status: 200, Body: cleartext},
			)
			if want := map[bool]string{true: ciphertext, false: "ok"}[step <= atRequestBody]; out.Body != want ||
				out.Response != cleartext || out.Status != 200 {
				t.Errorf("core got %q, the client %d %q: Envoy was known to let through", out.Body, out.Status, out.Response)
			}
			if proof := out.Core.Values("X-Svc-Int-Proof"); len(proof) > 0 {
				t.Errorf("core got the proof %q with a request that was not judged", proof)
			}
		})
	}
}
