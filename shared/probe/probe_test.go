package probe_test

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/probe"
)

// serve sends the responses of a program with a status, on an address or a socket.
func serve(t *testing.T, network, address string, status int) net.Addr {
	t.Helper()
	l, err := net.Listen(network, address) //nolint:noctx // it listens immediately
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health" {
			status = http.StatusNotFound
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"status":"of a test"}`))
	}))
	_ = server.Listener.Close()
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
	return l.Addr()
}

// run carries out a command line.
func run(t *testing.T, args ...string) (code int, ok bool, out, problems string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	program := probe.Program{Name: "test", Admin: "127.0.0.1:1", Path: "/health"}
	code, ok = program.Command(t.Context(), args, &stdout, &stderr)
	return code, ok, stdout.String(), stderr.String()
}

func TestHealth(t *testing.T) {
	t.Parallel()
	well, ill := serve(t, "tcp", "127.0.0.1:0", 200).String(), serve(t, "tcp", "127.0.0.1:0", 503).String()
	_, port, _ := net.SplitHostPort(well)
	_, everywhere, _ := net.SplitHostPort(serve(t, "tcp", ":0", 200).String())
	socket := filepath.Join(t.TempDir(), "s")
	serve(t, "unix", socket, 200)
	for name, tt := range map[string]struct {
		admin string
		want  int
		says  string
	}{
		"OK":             {well, 0, ""},
		"all addresses":  {":" + everywhere, 0, ""},
		"0.0.0.0":        {"0.0.0.0:" + port, 0, ""},
		"a socket":       {"unix:" + socket, 0, ""},
		"ErrIll":         {ill, 1, "returned 503"},
		"ErrNobody":      {"", 1, "refused"}, // the program's usual address
		"ErrNoSocket":    {"unix:" + socket + "x", 1, "no such file"},
		"ErrNoAddress":   {"nowhere", 1, "missing port"},
		"ErrAnotherPath": {well + "/else", 1, "test health: "},
	} {
		args := []string{"health", "--admin", tt.admin}
		if tt.admin == "" {
			args = args[:1]
		}
		code, ok, out, problems := run(t, args...)
		if !ok || code != tt.want || !strings.Contains(problems, tt.says) {
			t.Errorf("%s: got %d, %t, %s, want %d and %s", name, code, ok, problems, tt.want, tt.says)
		}
		if said := out == `{"status":"of a test"}`; said != (tt.want == 0 || tt.admin == ill) {
			t.Errorf("%s: shows %q", name, out)
		}
	}
}

// TestHealthGivesUp: a server that accepts connections and sends nothing is not healthy.
func TestHealthGivesUp(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it listens immediately
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if code, _, _, problems := run(t, "health", "--admin", l.Addr().String(), "--timeout",
		(20 * time.Millisecond).String()); code != 1 {
		t.Errorf("got %d, %s", code, problems)
	}
}

func TestOthersAreTheProgramsOwn(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]struct {
		code int
		ok   bool
	}{
		"":               {0, false},
		"serve":          {0, false},
		"--health":       {0, false},
		"serve health":   {0, false},
		"version":        {0, true},
		"health --help":  {0, true},
		"health --admn":  {2, true},
		"health already": {2, true},
	} {
		if code, ok, _, _ := run(t, strings.Fields(args)...); code != want.code || ok != want.ok {
			t.Errorf("%q: got %d, %t, want %+v", args, code, ok, want)
		}
	}
	if _, _, out, _ := run(t, "version"); !strings.HasPrefix(out, "test unreleased") {
		t.Errorf("version: got %q", out)
	}
}
