//go:build unix

package extproc_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// apiKeyOf is the prefix of one merchant's keys. The program looks each key up only once, so tests
// use different ones.
const apiKeyOf = "sk_test_"

// whose plays core, where the program looks up the merchant of a key.
type whose struct {
	mu     sync.Mutex
	before map[string]func() // by key: called before the response; guarded by mu
}

func (w *whose) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	before := w.before[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "+apiKeyOf)]
	w.mu.Unlock()
	if before != nil {
		before()
	}
	rw.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(rw, `{"id":"key_01jd8m3k2q4r5","object":"api_key","merchant":"mer_01jd8m3k2q4r5","mode":"test",`+
		`"kind":"secret","scopes":["mle:write"],
		"hint":"abcd","status":"active","created_at":"2026-11-21T09:30:00.000Z"}`)
}

// program is mle-filter itself, on the same socket after each start.
type program struct {
	file, dir, socket, config string
	whose                     *whose
	http                      string // the address of its HTTP port

	mu  sync.Mutex           // for handlers that strike the program while it serves a request
	now *programtest.Program // guarded by mu
}

func newProgram(t *testing.T) *program {
	t.Helper()
	p := &program{dir: folder(t), whose: &whose{before: map[string]func(){}}}
	p.file = filepath.Join(programtest.MustPrograms(t, "mle-filter"), "mle-filter")
	p.socket, p.config = filepath.Join(p.dir, "s"), filepath.Join(p.dir, "config.yaml")
	v1 := httptest.NewServer(p.whose)
	t.Cleanup(v1.Close)
	config := "listen: 127.0.0.1:0\nadmin: \"\"\nv1: " + v1.URL + "\nextproc: " + p.socket + "\nkeys: " +
		filepath.Join(p.dir, "mle.db") + "\nrsa_bits: 2048\nspare_keys: 1\n"
	if err := os.WriteFile(p.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.running() != nil {
			p.kill()
		}
	})
	return p
}

// start starts the program and waits until it serves.
func (p *program) start(t *testing.T) {
	t.Helper()
	now, err := programtest.Launch(programtest.Command{
		Path: p.file, Args: []string{"--config", p.config},
		Env: []string{"CAUSEWAY_MLE_KEK=" + base64.StdEncoding.EncodeToString(make([]byte, 32))},
	})
	if err != nil {
		t.Fatal(err)
	}
	address := now.MustAddress(t, "listen")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now, p.http = now, "http://"+address
}

func (p *program) running() *programtest.Program {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// kill ends the program by SIGKILL.
func (p *program) kill() { p.running().Kill() }

// hang pauses the program until goOn.
func (p *program) hang() { p.running().Pause() }

func (p *program) goOn() { p.running().Resume() }

// run runs one of the program's commands.
func (p *program) run(t *testing.T, in string, args ...string) string {
	t.Helper()
	out, wrong, err := programtest.Output(t.Context(), programtest.Command{
		Path: p.file, Args: args, Env: []string{"KEY=" + apiKeyOf + "own"}, Stdin: strings.NewReader(in),
	})
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, wrong)
	}
	return out
}

// encrypt encrypts a text to the program's key. First it registers a response key, which decrypt
// uses.
func (p *program) encrypt(t *testing.T, text string) string {
	t.Helper()
	p.run(t, "", "keys", "new", "--out", filepath.Join(p.dir, "mine"))
	p.run(t, "", "keys", "register", "--private", filepath.Join(p.dir, "mine"), "--v1", p.http, "--api-key-env", "KEY")
	current := p.run(t, "", "keys", "current", "--v1", p.http, "--api-key-env", "KEY")
	if err := os.WriteFile(filepath.Join(p.dir, "current"), []byte(current), 0o600); err != nil {
		t.Fatal(err)
	}
	return p.run(t, text, "seal", "--key", filepath.Join(p.dir, "current"))
}

func (p *program) decrypt(t *testing.T, response string) string {
	t.Helper()
	return p.run(t, response, "open", "--private", filepath.Join(p.dir, "mine"))
}
