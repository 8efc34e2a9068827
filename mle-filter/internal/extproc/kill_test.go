//go:build unix

package extproc_test

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/shared/envoytest"
)

// killing is the program behind a real Envoy that is never restarted.
type killing struct {
	*program
	envoy *realEnvoy
	body  string // an encrypted request
}

// request returns a request with an API key, encrypted in both directions.
func (k *killing) request(key string) enginetest.Request {
	return josed(k.body, enginetest.Field{Name: "X-SVC-MLE-Response", Value: "required"}, enginetest.Field{
		Name: "Authorization", Value: "Bearer " + apiKeyOf + key,
	})
}

// moments are the points at which the program is killed. prepare makes the program be killed there,
// and returns the body to send.
var moments = []struct {
	name    string
	reaches int // the number of requests at core
	prepare func(t *testing.T, k *killing, key string, strike func()) io.Reader
}{
	{"request head", 0, func(_ *testing.T, k *killing, key string, strike func()) io.Reader {
		k.whose.mu.Lock()
		defer k.whose.mu.Unlock()
		k.whose.before[key] = strike
		return strings.NewReader(k.body)
	}},
	{"request body", 0, func(t *testing.T, k *killing, _ string, strike func()) io.Reader {
		t.Helper()
		half, before := len(k.body)/2, k.envoy.responses(t)
		return io.MultiReader(strings.NewReader(k.body[:half]), first(func() {
			k.envoy.awaitResponses(t, before+1) // the head is judged
			strike()
		}), strings.NewReader(k.body[half:]))
	}},
	{"response head", 1, func(t *testing.T, k *killing, _ string, strike func()) io.Reader {
		t.Helper()
		k.envoy.core.pause(t, pauses{before: strike})
		return strings.NewReader(k.body)
	}},
	{"response body", 1, func(t *testing.T, k *killing, _ string, strike func()) io.Reader {
		t.Helper()
		before := k.envoy.responses(t)
		k.envoy.core.pause(t, pauses{within: func() {
			k.envoy.awaitResponses(t, before+3)
			strike()
		}})
		return strings.NewReader(k.body)
	}},
}

// first is an empty reader that calls a function when it is read.
type first func()

func (f first) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

func (s *stage) pause(t *testing.T, p pauses) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pauses[t.Name()] = p
}

// TestEnvoyProgram kills, stops and replaces the program at every message of a stream. No content
// passes meanwhile. Once the program is back, the same Envoy uses it again.
func TestEnvoyProgram(t *testing.T) {
	t.Parallel()
	k := &killing{program: newProgram(t)}
	k.start(t)
	k.body = k.encrypt(t, ciphertext)
	k.envoy = startEnvoy(
		t, listener{Name: "mle", Socket: k.socket, Timeout: "20s"}, listener{Name: "hasty", Socket: k.socket, Timeout: "5s"},
	)
	for _, at := range moments {
		name, status := "killed at the "+at.name, http.StatusServiceUnavailable
		k.strike(t, name, at.reaches, status, at.prepare, k.kill, func(t *testing.T) {
			t.Helper()
			t.Run("while it is away", func(t *testing.T) {
				if out := k.envoy.send(t, h1, "mle", k.request("own"), enginetest.Response{Body: cleartext}); out.Reached != 0 ||
					out.Status != 503 {
					t.Errorf("got %d requests to core and %d", out.Reached, out.Status)
				}
			})
			k.start(t)
		})
		k.strike(
			t, "hung at the "+at.name, at.reaches, http.StatusGatewayTimeout, at.prepare, k.hang, func(*testing.T) { k.goOn() },
		)
	}
	t.Run("replaced", func(t *testing.T) { // the old program ends its requests while the new one has the socket
		old := k.running()
		k.envoy.core.pause(t, pauses{before: func() {
			old.Signal(syscall.SIGTERM)
			for err := error(nil); err == nil; _, err = os.Stat(k.socket) { // until it drains
			}
			k.start(t)
		}})
		k.serves(t)
		if err := old.Err(); err != nil {
			t.Errorf("got %v, want a clean stop", err)
		}
	})
	t.Run("after that", k.serves)
}

// strike sends a request during which the program is struck, and requires that no content passes.
// Then it restores the program, and requires that it serves.
func (k *killing) strike(
	t *testing.T, name string, reaches, status int, prepare func(*testing.T, *killing, string, func()) io.Reader,
	what func(), mend func(*testing.T),
) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		key, to := strings.ReplaceAll(name, " ", ""), "mle"
		if status == http.StatusGatewayTimeout {
			to = "hasty"
		}
		out := k.envoy.sendBody(t, h1, to, k.request(key), prepare(t, k, key, what), enginetest.Response{
			Status: 201, Body: strings.Repeat(cleartext, 9),
		})
		if out.Reached != reaches || out.Status != status || strings.Contains(out.Response, cleartext) {
			t.Errorf(
				"got %d requests to core, want %d; and %d, want %d: %.100q", out.Reached, reaches, out.Status, status, out.Response,
			)
		}
		if reaches == 0 && out.Body != "" || reaches == 1 && out.Body != ciphertext {
			t.Errorf("core got %q", out.Body)
		}
		mend(t)
		t.Run("and back", k.serves)
	})
}

// serves requires that a request passes, encrypted in both directions.
func (k *killing) serves(t *testing.T) {
	t.Helper()
	out := k.envoy.send(t, h1, "mle", k.request("own"), enginetest.Response{Status: 201, Body: cleartext})
	if out.Status != 201 || out.Reached != 1 || out.Body != ciphertext {
		t.Fatalf("got %d requests to core, with %q, and %d %s", out.Reached, out.Body, out.Status, out.Response)
	}
	if text := k.decrypt(t, out.Response); text != cleartext {
		t.Errorf("got %q", text)
	}
}

// TestEnvoySocketMode checks that nothing passes if Envoy may not open the socket.
func TestEnvoySocketMode(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	var all []listener
	start, want := envoytest.Start, map[string]int{"0000": 503, "0666": 201}
	if os.Geteuid() == 0 { // otherwise the tests cannot use two users
		start, want["0600"], want["0660"] = envoytest.StartAsNobody, 503, 503
	}
	modes := map[string]fs.FileMode{"0000": 0, "0600": 0o600, "0660": 0o660, "0666": 0o666}
	for name := range want {
		socket := serve(t, processor(t, w.Engine(t), nil))
		if err := errors.Join(os.Chmod(socket, modes[name]), os.Chmod(filepath.Dir(socket), 0o755)); err != nil {
			t.Fatal(err)
		}
		all = append(all, listener{Name: name, Socket: socket, Timeout: "12s"})
	}
	envoy := launchEnvoy(t, start, all...)
	for name, status := range want {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := plain("POST", enginetest.Path, ciphertext, enginetest.Field{Name: "X-Level", Value: "optional"})
			out := envoy.send(t, h1, name, r, enginetest.Response{Status: 201, Body: cleartext})
			if through := status == 201; out.Status != status || (out.Reached != 0) != through ||
				strings.Contains(out.Response, cleartext) != through {
				t.Errorf("got %d requests to core and %d %q, want %d", out.Reached, out.Status, out.Response, status)
			}
		})
	}
}
