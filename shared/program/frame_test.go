package program_test

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
	"sync"
	"syscall"
	"testing"

	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/program"
)

func mustOpen(t *testing.T, stderr io.Writer) *program.Frame {
	t.Helper()
	f, err := program.Open(t.Context(), program.Config{Name: "test", Stderr: stderr})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// get sends a request to a listener's address.
func get(ctx context.Context, t *testing.T, addr net.Addr) error {
	t.Helper()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, addr.Network(), addr.String())
		},
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://test/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// TestFrame serves on a port and on a socket. In the end both drain, while operators still see how
// it goes, and then all else is closed, last opened first.
func TestFrame(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "x") //nolint:usetesting // the name of a socket must not be long
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var (
		log   strings.Builder
		mu    sync.Mutex
		ended []string
		addrs = map[string]net.Addr{}
	)
	f := mustOpen(t, &log)
	ends := func(what string, names ...string) func(context.Context) error {
		return func(ctx context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			ended = append(ended, what)
			for _, name := range names {
				if err := get(ctx, t, addrs[name]); err != nil {
					t.Errorf("%s, while %s ends: %v", name, what, err)
				}
			}
			return ctx.Err()
		}
	}
	ok := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	ready := func(name string) func(net.Addr) { return func(a net.Addr) { addrs[name] = a } }
	f.OnClose(ends("first"))
	inner := program.Listener{Name: "inner", Address: "127.0.0.1:0", Handler: ok, Ready: ready("inner")}
	if err := f.Inner(t.Context(), inner); err != nil {
		t.Fatal(err)
	}
	f.OnClose(ends("second", "inner"))
	if err := f.Operators(t.Context(), "127.0.0.1:0", ok, ready("admin")); err != nil {
		t.Fatal(err)
	}
	for name, address := range map[string]string{
		"port": "127.0.0.1:0", "socket": "unix:" + filepath.Join(dir, "s"),
		"none": "",
	} {
		if err := f.Listen(t.Context(),
			program.Listener{Name: name, Address: address, Handler: ok, Ready: ready(name)}); err != nil {
			t.Fatal(err)
		}
	}
	f.OnDrain(ends("drain", "admin", "inner"))
	if len(addrs) != 4 {
		t.Errorf("got %v, want four listeners", addrs)
	}
	for name, addr := range addrs {
		if err := get(t.Context(), t, addr); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		said := `test: listening","listener":"` + name
		switch name {
		case "admin":
			said = `test: operators' port","listener":"admin`
		case "inner":
			said = `test: inner listener","listener":"inner`
		}
		if !strings.Contains(log.String(), said+`","address":"`+addr.String()+`"`) {
			t.Errorf("%s is not in the log:\n%s", name, &log)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // as a program's is that ends
	for range 2 {
		if err := f.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	for name := range addrs {
		if said := `"msg":"server stopped","server":"` + name + `"`; strings.Count(log.String(), said) != 1 {
			t.Errorf("%s is not in the log:\n%s", said, &log)
		}
	}
	if want := []string{"drain", "second", "first"}; !slices.Equal(ended, want) {
		t.Errorf("got %v, want %v", ended, want)
	}
	for name, addr := range addrs {
		if err := get(t.Context(), t, addr); err == nil {
			t.Errorf("%s still responds after the end", name)
		}
	}
}

// TestDrainsSideBySide: drains run concurrently, because two drains may wait for each other.
func TestDrainsSideBySide(t *testing.T) {
	t.Parallel()
	f, a, b := mustOpen(t, io.Discard), make(chan struct{}), make(chan struct{})
	f.OnDrain(func(context.Context) error { close(a); <-b; return nil })
	f.OnDrain(func(context.Context) error { close(b); <-a; return nil })
	if err := f.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestNoticeComesFirst: a program that is stopped gives notice before anything drains. A program
// that failed does not.
func TestNoticeComesFirst(t *testing.T) {
	t.Parallel()
	for asked, want := range map[bool][]string{true: {"told", "drain"}, false: {"drain"}} {
		f, err := program.Open(t.Context(), program.Config{Name: "test", Stderr: io.Discard, Notice: &httpx.Notice{For: 1}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		f.OnNotice(func() { got = append(got, "told") })
		f.OnDrain(func(context.Context) error { got = append(got, "drain"); return nil })
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if asked {
			cancel()
		}
		if err := f.Close(ctx); err != nil || !slices.Equal(got, want) {
			t.Errorf("asked to end %t: got %v, %v, want %v", asked, got, err, want)
		}
	}
	if _, err := program.Open(t.Context(),
		program.Config{Name: "test", Stderr: io.Discard, Notice: &httpx.Notice{For: -1}}); err == nil {
		t.Error("a notice of less than nothing is taken")
	}
}

func TestCloseSignalsAll(t *testing.T) {
	t.Parallel()
	f, first, second := mustOpen(t, io.Discard), errors.New("first"), errors.New("second")
	f.OnClose(func(context.Context) error { return first })
	f.OnDrain(func(context.Context) error { return second })
	if err := f.Close(t.Context()); !errors.Is(err, first) || !errors.Is(err, second) {
		t.Errorf("got %v, want both", err)
	}
}

func TestListenNamesWhatFails(t *testing.T) {
	t.Parallel()
	f := mustOpen(t, io.Discard)
	err := f.Operators(t.Context(), "nowhere:port", http.NotFoundHandler(), nil)
	if err == nil || !strings.HasPrefix(err.Error(), "admin: ") {
		t.Errorf("got %v, want what could not be listened on", err)
	}
	if err := f.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestOperatorsRefuseInV1sForm checks that errors of the operators' mux have the body of v1's
// errors.
func TestOperatorsRefuseInV1sForm(t *testing.T) {
	t.Parallel()
	f := mustOpen(t, io.Discard)
	var at net.Addr
	if err := f.Operators(t.Context(), "127.0.0.1:0", http.NewServeMux(), func(a net.Addr) { at = a }); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at.String()+"/none", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	got, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(got.Body)
	if err := errors.Join(err, got.Body.Close()); err != nil {
		t.Fatal(err)
	}
	if got.StatusCode != 404 || !strings.Contains(string(body), `"code":"route_not_found"`) ||
		!strings.HasPrefix(got.Header.Get("Request-Id"), "req_") {
		t.Errorf("got %d %v %s", got.StatusCode, got.Header, body)
	}
	if err := f.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// Not parallel: the signal is the process's.
func TestSignalEndsTheCommand(t *testing.T) {
	var out strings.Builder
	code := program.Main("test", &out, func(ctx context.Context) error {
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			return err
		}
		<-ctx.Done()
		return errors.New("too late")
	})
	if code != program.ExitFailed || out.String() != "test: too late\n" {
		t.Errorf("got %d and %q", code, &out)
	}
}
