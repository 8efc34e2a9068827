package envoytest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Envoy is a running one.
type Envoy struct {
	admin   string // the file that holds the address of its administration
	program *programtest.Program
}

// Validate has Envoy judge a configuration, given as a file, without a start.
func Validate(tb testing.TB, config string) {
	tb.Helper()
	programtest.MustOutput(tb, programtest.Command{Path: Install(tb), Args: []string{"--mode", "validate", "-c", config}})
}

// Start starts an Envoy with a configuration file, and stops it at the end of the test. It does not
// wait until Envoy serves. The configuration sets the administration's address; more are further
// arguments of the command line.
func Start(tb testing.TB, config string, more ...string) *Envoy {
	tb.Helper()
	return launch(tb, programtest.Command{Path: Install(tb)}, tb.TempDir(), config, more)
}

// launch starts an Envoy, which may write to the folder.
func launch(tb testing.TB, c programtest.Command, dir, config string, more []string) *Envoy {
	tb.Helper()
	e := &Envoy{admin: filepath.Join(dir, "admin")}
	c.Args = append([]string{
		"-c", config, "--concurrency", "1", "--disable-hot-restart", "--log-level", "warning",
		"--admin-address-path", e.admin,
	}, more...)
	e.program = programtest.Start(tb, c)
	tb.Cleanup(func() { _ = e.program.Terminate() }) // the error only repeats the signal
	return e
}

// Listeners waits until Envoy serves and returns the address of each listener, by its name.
func (e *Envoy) Listeners(tb testing.TB) map[string]string {
	tb.Helper()
	e.Wait(tb, "is not ready", func() bool {
		_, err := e.TryGet(tb.Context(), "/ready")
		return err == nil
	})
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
	if err := json.Unmarshal([]byte(e.Get(tb, "/listeners?format=json")), &told); err != nil {
		tb.Fatal(err)
	}
	at := map[string]string{}
	for _, l := range told.Statuses {
		at[l.Name] = net.JoinHostPort(l.Local.Socket.Address, strconv.Itoa(l.Local.Socket.Port))
	}
	return at
}

// Wait waits until done is true, and fails the test with Envoy's log when it never is.
func (e *Envoy) Wait(tb testing.TB, what string, done func() bool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), programtest.Patience)
	defer cancel()
	if !programtest.Poll(ctx, done) {
		tb.Fatalf("Envoy %s:\n%s", what, e.program.Log)
	}
}

// Log returns what Envoy has written. That includes its access log after a flush.
func (e *Envoy) Log() string { return e.program.Log.String() }

// Get sends a GET request to Envoy's administration and returns the response's body.
func (e *Envoy) Get(tb testing.TB, path string) string {
	tb.Helper()
	text, err := e.TryGet(tb.Context(), path)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// TryGet is Get for an Envoy that may not be ready yet.
func (e *Envoy) TryGet(ctx context.Context, path string) (string, error) {
	address, err := os.ReadFile(e.admin)
	if err != nil {
		return "", err
	}
	host, client := string(address), http.DefaultClient
	if filepath.IsAbs(host) { // a unix socket
		transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", string(address))
		}}
		defer transport.CloseIdleConnections()
		host, client = "envoy", &http.Client{Transport: transport}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+path, http.NoBody)
	if err != nil {
		return "", err
	}
	response, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("envoytest: %s: %s", path, response.Status)
	}
	return string(text), err
}
