package extproc_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestEnvoyCases runs the cases of the engine through a real Envoy.
func TestEnvoyCases(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	envoy := startEnvoy(t, listener{Name: "mle", Socket: serve(t, processor(t, w.Engine(t), nil)), Timeout: "10s"})
	for name, by := range map[string]*http.Transport{"HTTP1": h1, "HTTP2": h2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			enginetest.Run(t, w, func(t *testing.T, r enginetest.Request, reply enginetest.Response) enginetest.Outcome {
				t.Helper()
				r.Fields = append(slices.Clone(r.Fields), enginetest.Field{Name: "X-Level", Value: "optional"})
				if r.Caller != "" {
					r.Fields = append(r.Fields, enginetest.Field{Name: callerField, Value: r.Caller})
				}
				return envoy.send(t, by, "mle", r, reply)
			})
		})
	}
}

func josed(body string, more ...enginetest.Field) enginetest.Request {
	return enginetest.Request{Method: "POST", Path: enginetest.Path, Body: body, Fields: append([]enginetest.Field{
		{Name: "Content-Type", Value: "application/jose"}, {Name: "X-SVC-MLE", Value: "v1"},
	}, more...)}
}

// TestEnvoyMatrix combines policies, requests and responses, through a real Envoy. The level of
// Envoy's route is the policy.
func TestEnvoyMatrix(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	w.Config.Secret = secret.New("proof")
	envoy := startEnvoy(t, listener{Name: "mle", Socket: serve(t, processor(t, w.Engine(t), nil)), Timeout: "10s"})
	kib := strings.Repeat("x", 1024)
	for name, tt := range map[string]struct {
		r         enginetest.Request
		encrypted bool
		carries   bool // by its method
	}{
		"GET":                        {plain("GET", enginetest.Path, ""), false, false},
		"POST empty":                 {plain("POST", enginetest.Path, ""), false, true},
		"POST":                       {plain("POST", enginetest.Path, kib), false, true},
		"POST chunked":               {chunked(plain("POST", enginetest.Path, kib)), false, true},
		"POST encrypted":             {josed(enginetest.Forge{Key: w.EC}.Encrypt(t, kib)), true, true},
		"POST encrypted and chunked": {chunked(josed(enginetest.Forge{Key: w.EC}.Encrypt(t, kib))), true, true},
	} {
		for _, level := range []string{"", "off", "optional", "required"} {
			for _, wants := range []bool{false, true} {
				for proto, by := range map[string]*http.Transport{"HTTP1": h1, "HTTP2": h2} {
					t.Run(fmt.Sprintf("%s %s %q %v", name, proto, level, wants), func(t *testing.T) {
						t.Parallel()
						r := tt.r
						r.Fields = append(slices.Clone(r.Fields), enginetest.Field{Name: "X-Level", Value: level}, enginetest.Field{
							Name: "X-Svc-Int-Proof", Value: "guessed",
						})
						if wants {
							r.Fields = append(r.Fields, enginetest.Field{Name: "X-SVC-MLE-Response", Value: "required"})
						}
						out := envoy.send(t, by, "mle", r, enginetest.Response{Status: 201, Body: "{}"})
						code := ""
						switch {
						case level == "off" && (tt.encrypted || wants):
							code = "mle_not_supported"
						case (level == "" || level == "required") && tt.carries && !tt.encrypted:
							code = "mle_required"
						}
						checkRow(t, w, out, code, wants)
						if tt.carries && code == "" && strings.Contains(name, "encrypted") && out.Body != kib {
							t.Errorf("core got %q", out.Body)
						}
					})
				}
			}
		}
	}
}

func chunked(r enginetest.Request) enginetest.Request {
	r.NoLength = true
	return r
}

func checkRow(t *testing.T, w *enginetest.World, out enginetest.Outcome, code string, wants bool) {
	t.Helper()
	if code != "" {
		if out.Reached != 0 || !strings.Contains(out.Response, code) || out.Fields.Get("Content-Type") != "application/json" {
			t.Errorf("got %d requests to core and %d %s, want %s", out.Reached, out.Status, out.Response, code)
		}
		return
	}
	if proof := out.Core.Values("X-Svc-Int-Proof"); out.Reached != 1 || out.Status != 201 || len(proof) != 1 ||
		proof[0] != "proof" {
		t.Fatalf("got %d requests to core with %q, and %d %s", out.Reached, proof, out.Status, out.Response)
	}
	if !wants {
		if out.Response != "{}" {
			t.Errorf("got %q", out.Response)
		}
		return
	}
	if _, text := w.ResponseKey.Decrypt(t, out.Response); text != "{}" ||
		out.Fields.Get("Content-Length") != strconv.Itoa(len(out.Response)) {
		t.Errorf("got %q, %v", text, out.Fields)
	}
}

// TestEnvoyLimits checks that Envoy rejects a body beyond its buffer, with its own error, and that
// the body does not reach core.
func TestEnvoyLimits(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	envoy := startEnvoy(t, listener{Name: "mle", Socket: serve(t, processor(t, w.Engine(t), nil)), Timeout: "10s"})
	large, huge := josed(strings.Repeat("A", 600<<10)), josed(strings.Repeat("A", 32<<20))
	for name, r := range map[string]enginetest.Request{
		"length": large, "chunked": chunked(large), "far more": huge, "far more, chunked": chunked(huge),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.Fields = append(slices.Clone(r.Fields), enginetest.Field{Name: "X-Level", Value: "optional"})
			if out := envoy.send(t, h1, "mle", r, enginetest.Response{}); out.Reached != 0 || out.Status != 413 {
				t.Errorf("got %d requests to core and %d %s", out.Reached, out.Status, out.Response)
			}
		})
	}
	optional := enginetest.Field{Name: "X-Level", Value: "optional"}
	t.Run("the response", func(t *testing.T) {
		t.Parallel()
		r := plain("GET", enginetest.Path, "", optional, enginetest.Field{Name: "X-SVC-MLE-Response", Value: "required"})
		out := envoy.send(t, h1, "mle", r, enginetest.Response{Status: 200, Body: strings.Repeat(cleartext, 200_000)})
		if out.Status != 500 || strings.Contains(out.Response, cleartext) {
			t.Errorf("got %d %.100q", out.Status, out.Response)
		}
	})
	t.Run("no core", func(t *testing.T) {
		t.Parallel()
		r := josed(
			enginetest.Forge{Key: w.EC}.Encrypt(t, "{}"), enginetest.Field{Name: "X-Level", Value: "nowhere"},
			enginetest.Field{Name: "X-SVC-MLE-Response", Value: "required"},
		)
		out := envoy.send(t, h1, "mle", r, enginetest.Response{})
		_, text := w.ResponseKey.Decrypt(t, out.Response)
		if out.Status != 503 || out.Reached != 0 || !strings.Contains(text, "upstream") {
			t.Errorf("got %d %s, want Envoy's own response", out.Status, text)
		}
	})
}

// TestEnvoyLargeInTheClear checks that Envoy passes bodies in the clear on as they arrive, in both
// directions. A response may be longer than Envoy holds. A buffer filter in front bounds requests.
func TestEnvoyLargeInTheClear(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	envoy := startEnvoy(t,
		listener{Name: "mle", Socket: serve(t, processor(t, w.Engine(t), nil)), Timeout: "10s"},
		listener{Name: "bounded", Socket: serve(t, processor(t, w.Engine(t), nil)), Timeout: "10s", MaxBody: bounded},
	)
	large := strings.Repeat("x", 2_000_000)
	// Longer than the buffers of one connection. per_connection_buffer_limit_bytes bounds HTTP/1.1,
	// and a window of 16 MiB bounds a stream of HTTP/2.
	over := map[*http.Transport]string{h1: strings.Repeat("x", 2_400_000), h2: strings.Repeat("x", 18_000_000)}
	for name, tt := range map[string]struct {
		to             string
		body, response string
		reached, want  int
	}{
		"the body":           {"mle", large, "{}", 1, 200},
		"the response":       {"mle", "{}", large, 1, 200},
		"a response of more": {"mle", "{}", tooLarge, 1, 200},
		"as large as max":    {"bounded", large[:bounded], "{}", 1, 200},
		"a byte more":        {"bounded", large[:bounded+1], "{}", 0, 413},
	} {
		for _, level := range []string{"off", "optional"} {
			for proto, by := range map[string]*http.Transport{"HTTP1": h1, "HTTP2": h2} {
				t.Run(name+" "+level+" "+proto, func(t *testing.T) {
					t.Parallel()
					body := strings.Replace(tt.body, tooLarge, over[by], 1)
					response := strings.Replace(tt.response, tooLarge, over[by], 1)
					r := plain("POST", enginetest.Path, body, enginetest.Field{Name: "X-Level", Value: level})
					out := envoy.send(t, by, tt.to, r, enginetest.Response{Status: 200, Body: response})
					if out.Reached != tt.reached || out.Status != tt.want {
						t.Fatalf(
							"got %d requests to core and %d %.100q, want %d and %d", out.Reached, out.Status, out.Response, tt.reached,
							tt.want,
						)
					}
					if tt.want == 200 && (out.Body != body || out.Response != response) {
						t.Errorf(
							"got %d bytes to core and %d back, want %d and %d", len(out.Body), len(out.Response), len(body), len(response),
						)
					}
				})
			}
		}
	}
}

// bounded is the limit of the listener with the buffer filter. tooLarge stands for a body beyond
// Envoy's buffer of the protocol.
const (
	bounded  = 262144
	tooLarge = "too large"
)

// TestEnvoyPaths checks that no spelling of a path reaches v1 through a route on which the
// processor is off.
func TestEnvoyPaths(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	envoy := startEnvoy(
		t, listener{Name: "mle", Socket: serve(t, processor(t, w.Engine(t), nil)), Timeout: "10s", Normalize: true},
	)
	for path, want := range map[string]struct {
		status  int
		reached int
	}{
		"/compat/x":               {200, 1},
		"/v1/x":                   {400, 0}, // it requires encryption
		"/compat/../v1/x":         {400, 0},
		"/compat/%2e%2e/v1/x":     {400, 0},
		"/compat/.%2E/v1/x":       {400, 0},
		"/compat%2f..%2fv1/x":     {400, 0}, // refused by Envoy
		"/compat/..%2fv1/x":       {400, 0},
		"/compat/..%5cv1/x":       {400, 0},
		"/compat/x/../../v1/x":    {400, 0},
		"//v1/x":                  {400, 0},
		"/compat//../v1/x":        {200, 1}, // still below /compat, by RFC 3986
		"/V1/x":                   {400, 0},
		"/compatible/../v1/x":     {400, 0},
		"/compatx":                {400, 0},
		"/v1":                     {400, 0},
		"/%76%31/x":               {400, 0},
		"/compat/%252e%252e/v1/x": {200, 1}, // escaped twice: a folder with that name
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			out := envoy.send(t, h1, "mle", plain("POST", path, "{}"), enginetest.Response{Body: cleartext})
			if out.Status != want.status || out.Reached != want.reached {
				t.Errorf("got %d requests to core and %d %s, want %v", out.Reached, out.Status, out.Response, want)
			}
		})
	}
}
