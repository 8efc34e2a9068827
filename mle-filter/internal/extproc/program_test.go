//go:build unix

package extproc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// apiKeyOf is a merchant's key. Any that begins so is the same merchant's: the program asks about each once.
const apiKeyOf = "sk_test_"

// whose stands for v1 where the program asks whose a key is.
type whose struct {
	mu     sync.Mutex
	before map[string]func() // by key, what happens before it is told; guarded by mu
}

func (w *whose) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	before := w.before[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "+apiKeyOf)]
	w.mu.Unlock()
	if before != nil {
		before()
	}
	rw.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(rw, `{"id":"key_01jd8m3k2q4r5","object":"api_key","merchant":"mer_01jd8m3k2q4r5","mode":"test","kind":"secret","scopes":["mle:write"],
		"hint":"abcd","status":"active","created_at":"2026-11-21T09:30:00.000Z"}`)
}

// program is mle-filter itself, on a socket that stays the same whenever it is started.
type program struct {
	file, dir, socket, config string
	whose                     *whose
	http                      string // where its HTTP port is

	mu  sync.Mutex // what befalls the program does so where a request is sent or answered
	cmd *exec.Cmd  // guarded by mu
}

func newProgram(t *testing.T) *program {
	t.Helper()
	p := &program{dir: folder(t), whose: &whose{before: map[string]func(){}}}
	p.file, p.socket, p.config = filepath.Join(p.dir, "mle-filter"), filepath.Join(p.dir, "s"), filepath.Join(p.dir, "config.yaml")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", p.file, "../../cmd/mle-filter").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	v1 := httptest.NewServer(p.whose)
	t.Cleanup(v1.Close)
	config := "listen: 127.0.0.1:0\nadmin: \"\"\nv1: " + v1.URL + "\nextproc: " + p.socket + "\nkeys: " + filepath.Join(p.dir, "mle.db") + "\nrsa_bits: 2048\nspare_keys: 1\n"
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
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), p.file, "--config", p.config)
	cmd.Env = append(os.Environ(), "CAUSEWAY_MLE_KEK="+base64.StdEncoding.EncodeToString(make([]byte, 32)))
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		var event struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &event) == nil && event.Msg == "mle-filter: listening" {
			p.mu.Lock()
			p.cmd, p.http = cmd, "http://"+event.Address
			p.mu.Unlock()
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return
		}
	}
	t.Fatalf("the program did not start: %v", cmd.Wait())
}

func (p *program) running() *exec.Cmd {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd
}

// kill ends the program as the kernel does.
func (p *program) kill() {
	cmd := p.running()
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it says how it was ended
}

// hang stops the program until it is told to go on.
func (p *program) hang() {
	var state syscall.WaitStatus
	process := p.running().Process
	_ = process.Signal(syscall.SIGSTOP)
	for !state.Stopped() {
		if _, err := syscall.Wait4(process.Pid, &state, syscall.WUNTRACED, nil); err != nil {
			return // the test fails by what comes of it
		}
	}
}

func (p *program) goOn() { _ = p.running().Process.Signal(syscall.SIGCONT) }

// run runs one of the program's commands.
func (p *program) run(t *testing.T, in string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), p.file, args...)
	cmd.Env, cmd.Stdin = append(os.Environ(), "KEY="+apiKeyOf+"own"), strings.NewReader(in)
	var wrong bytes.Buffer
	cmd.Stderr = &wrong
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, wrong.String())
	}
	return string(out)
}

// sealed is a text encrypted to the program's key. It registers a key for answers first, which opened knows.
func (p *program) sealed(t *testing.T, text string) string {
	t.Helper()
	p.run(t, "", "keys", "new", "--out", filepath.Join(p.dir, "mine"))
	p.run(t, "", "keys", "register", "--private", filepath.Join(p.dir, "mine"), "--v1", p.http, "--api-key-env", "KEY")
	current := p.run(t, "", "keys", "current", "--v1", p.http, "--api-key-env", "KEY")
	if err := os.WriteFile(filepath.Join(p.dir, "current"), []byte(current), 0o600); err != nil {
		t.Fatal(err)
	}
	return p.run(t, text, "seal", "--key", filepath.Join(p.dir, "current"))
}

func (p *program) opened(t *testing.T, answer string) string {
	t.Helper()
	return p.run(t, answer, "open", "--private", filepath.Join(p.dir, "mine"))
}
