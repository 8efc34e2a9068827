package standalone_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// patience is how long a test waits for what takes milliseconds, on a machine that is busy with all the other tests.
const patience = 60 * time.Second

// binary is the program under test, set once by TestMain.
var binary string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "standalone")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "standalone")
	build := exec.CommandContext(context.Background(), "go", "build", "-o", binary, "github.com/causeway-pay/causeway/deploy/standalone")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the program under test:", err)
		return 1
	}
	return m.Run()
}

// ready is the line of --json. Its shape is written out here again on purpose: other programs read it.
type ready struct {
	HTTP  string `json:"http"`
	HTTPS string `json:"https"`
	CA    string `json:"ca"`
	Keys  struct {
		SKTest string `json:"sk_test"`
		PKTest string `json:"pk_test"`
		SKLive string `json:"sk_live"`
		PKLive string `json:"pk_live"`
	} `json:"keys"`
	ProviderA struct {
		Name           string `json:"name"`
		TransactionKey string `json:"transaction_key"`
	} `json:"provider_a"`
	ProviderB struct {
		MerchantID   string `json:"merchant_id"`
		KeyID        string `json:"key_id"`
		SharedSecret string `json:"shared_secret"`
		P12          string `json:"p12"`
		P12Password  string `json:"p12_password"`
	} `json:"provider_b"`
}

// process is a running standalone.
type process struct {
	ready
	line string // the line of --json

	cmd    *exec.Cmd
	stdout io.ReadCloser // what comes after the line
	stderr *lockedBuffer
	wait   func() error // safe to repeat
}

// start runs the binary with --json on free ports and dir, and returns when it is ready. The test's end kills it.
func start(tb testing.TB, dir string, args ...string) *process {
	tb.Helper()
	return startWith(tb, nil, dir, args...)
}

// startWith is start in another environment than the test's own.
func startWith(tb testing.TB, env []string, dir string, args ...string) *process {
	tb.Helper()
	p := launchWith(tb, env, append([]string{
		"--json", "--data", dir, "--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0",
		"--rate-limit", "0", // one key makes all the load
	}, args...)...)
	got := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(p.stdout).ReadString('\n') // exactly one line comes, so nothing after it is lost
		got <- line
	}()
	select {
	case p.line = <-got:
	case <-time.After(patience):
		tb.Fatalf("not ready in %v; stderr:\n%s", patience, p.stderr)
	}
	if err := json.Unmarshal([]byte(p.line), &p.ready, json.RejectUnknownMembers(true)); err != nil {
		_ = p.wait()
		tb.Fatalf("ready line %q: %v; stderr:\n%s", p.line, err, p.stderr)
	}
	return p
}

// launch runs the binary.
func launch(tb testing.TB, args ...string) *process {
	tb.Helper()
	return launchWith(tb, nil, args...)
}

// launchWith runs the binary in an environment; nil for the test's own.
func launchWith(tb testing.TB, env []string, args ...string) *process {
	tb.Helper()
	p := &process{stderr: &lockedBuffer{}}
	p.cmd = exec.CommandContext(context.Background(), binary, args...)
	p.cmd.Stderr, p.cmd.Env = p.stderr, env
	reader, writer := io.Pipe()
	p.stdout, p.cmd.Stdout = reader, writer
	if err := p.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	p.wait = sync.OnceValue(func() error {
		err := p.cmd.Wait()
		_ = writer.Close()
		return err
	})
	go func() { _ = p.wait() }()
	tb.Cleanup(func() {
		p.kill()
		_ = reader.Close()
	})
	return p
}

// kill ends the process as a power cut would, and returns when it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be gone already
	_ = p.wait()
}

// stop asks the process to end and wants exit code 0.
func (p *process) stop(tb testing.TB) {
	tb.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		tb.Fatal(err)
	}
	if err := p.wait(); err != nil {
		tb.Fatalf("stop: %v; stderr:\n%s", err, p.stderr)
	}
}

// output runs the binary to its end and returns what it printed and its exit code.
func output(tb testing.TB, args ...string) (stdout, stderr string, code int) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		tb.Fatal(err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// lockedBuffer collects what a process prints while a test looks at it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
