package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/mle-filter/internal/policy"
	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/program"
	"github.com/causeway-pay/causeway/shared/secret"
)

const configs = "../../../configs/"

// kek is the key-encryption key of the tests.
var kek = config.Literal(secret.New(base64.StdEncoding.EncodeToString(make([]byte, 32))))

func TestShippedConfiguration(t *testing.T) {
	t.Parallel()
	m := &Main{Stderr: io.Discard}
	keys := filepath.Join(t.TempDir(), "mle.db")
	flags := []string{
		"--config", configs + "mle-filter.yaml", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--keys", keys,
	}
	if err := m.ParseFlags(flags); err != nil {
		t.Fatal(err)
	}
	const hour = time.Hour
	want := Config{
		Listen: "127.0.0.1:0", Admin: "127.0.0.1:0", V1: "http://127.0.0.1:8080", Keys: config.Literal(secret.New(keys)),
		Rotation: Rotation{2160 * hour, 336 * hour, 720 * hour},
		RSABits:  3072, SpareKeys: 4, Policy: mlefilter.Policy{
			Routes: []policy.Route{
				{Path: "/v1/health", MLE: policy.Off},
				{Method: "POST", Path: "/v1/tokens", MLE: policy.Optional, Response: policy.Optional},
			},
			Merchants: map[string]policy.Merchant{},
		},
		Limits: mlefilter.Limits{
			MaxBody: 256 << 10, MaxPlaintext: 188 << 10, MaxHeader: 2 << 10, MaxResponse: 1 << 20, MaxAge: 5 * time.Minute,
			Queue: 100 * time.Millisecond,
		},
		Concurrency: 512, Drain: 10 * time.Second,
	}
	if !reflect.DeepEqual(m.Config, want) {
		t.Errorf("got %+v, want %+v", m.Config, want)
	}
	shipped, err := m.Config.Limits.Complete()
	if standard, wrong := (mlefilter.Limits{}).Complete(); errors.Join(err, wrong) != nil || shipped != standard {
		t.Errorf("got %+v, %v, want the defaults", shipped, err)
	}
	core := service(t)
	m.Config.V1, m.Config.KEK = core.URL, kek
	public, operators, stop := run(t, m)
	if got := status(t, public+"/v1/health"); got != 200 {
		t.Errorf("through the filter: got %d", got)
	}
	for _, path := range []string{"/metrics", "/health"} {
		if got := status(t, operators+path); got != 200 {
			t.Errorf("%s: got %d", path, got)
		}
	}
	stop()
}

// TestUnannouncedRequirement checks that the file cannot require encryption of all merchants: a
// requirement has a notice.
func TestUnannouncedRequirement(t *testing.T) {
	t.Parallel()
	for _, route := range []policy.Route{
		{Path: "/v1/tokens", MLE: policy.Required}, {Path: "/v1/tokens", Response: policy.Required},
	} {
		m := &Main{Stderr: io.Discard, Config: defaults()}
		m.Config.KEK, m.Config.Policy.Routes = kek, []policy.Route{route}
		if err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "core mle announce") {
			t.Errorf("%+v: got %v, want an error that names the command", route, err)
		}
	}
}

// TestExtProc checks that the socket exists while the program runs, and that only its group has
// access.
func TestExtProc(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "x") //nolint:usetesting // the name of a socket must not be long
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	m, socket := &Main{Stderr: io.Discard}, filepath.Join(dir, "s")
	args := []string{
		"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--keys", filepath.Join(t.TempDir(), "mle.db"),
		"--extproc", socket,
	}
	if err := m.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	m.Config.V1, m.Config.KEK = service(t).URL, kek
	_, _, stop := run(t, m)
	if info, err := os.Stat(socket); err != nil || info.Mode() != os.ModeSocket|0o660 {
		t.Errorf("got %v, %v", info, err)
	}
	stop()
	if _, err := os.Stat(socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the end: got %v", err)
	}
	m.Config.ExtProc = filepath.Join(dir, "none", "s")
	if err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "extproc") {
		t.Errorf("got %v, want an error that names extproc", err)
	}
}

// service returns a v1 with one merchant.
func service(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/v1/api_keys/current":
			_, _ = io.WriteString(w, `{"id":"key_01jd8m3k2q4r5","object":"api_key","merchant":"mer_01jd8m3k2q4r5",
				"mode":"test","kind":"secret","scopes":["mle:write"],"hint":"abcd",
				"status":"active","created_at":"2026-11-21T09:30:00.000Z"}`)
		case "/v1/transactions":
			_, _ = io.Copy(w, r.Body)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// run runs the program. It returns its addresses and a function that stops it.
func run(t *testing.T, m *Main) (public, operators string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, admin, ended := make(chan net.Addr, 1), make(chan net.Addr, 1), make(chan error, 1)
	m.Ready, m.AdminReady = func(a net.Addr) { ready <- a }, func(a net.Addr) { admin <- a }
	go func() { ended <- m.Run(ctx) }()
	select {
	case a := <-ready:
		return "http://" + a.String(), "http://" + (<-admin).String(), func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("got %v, want a clean stop", err)
			}
		}
	case err := <-ended:
		cancel()
		t.Fatalf("ended before it was ready: %v", err)
	}
	return "", "", nil
}

func status(t *testing.T, url string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	return response.StatusCode
}

// command runs a command and returns its output.
func command(t *testing.T, input string, args ...string) (string, error) {
	t.Helper()
	var out, complaint bytes.Buffer
	m := &Main{Stdin: strings.NewReader(input), Stdout: &out, Stderr: &complaint}
	err := m.Command(t.Context(), args)
	if err != nil {
		t.Logf("%v: %v: %s", args, err, complaint.String())
	}
	return out.String(), err
}

func must(t *testing.T, input string, args ...string) string {
	t.Helper()
	out, err := command(t, input, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestByHand runs the commands of a merchant, and then the commands of an operator. It is not
// parallel, because commands read the environment.
func TestByHand(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SHOP_KEY", "sk_test_1")
	text, err := kek.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(kekVariable, text.Reveal())
	keys, named := filepath.Join(dir, "mle.db"), filepath.Join(dir, "keys")
	if err := os.WriteFile(named, []byte(keys+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(keysVariable+config.FileSuffix, named)
	public, _, stop := run(t, &Main{Stderr: io.Discard, Config: Config{
		Listen: "127.0.0.1:0", Admin: "127.0.0.1:0", V1: service(t).URL, RSABits: 2048, SpareKeys: 1,
	}})
	defer stop()
	mine, current := filepath.Join(dir, "mine.jwk"), filepath.Join(dir, "current.json")
	if shown := must(t, "", "keys", "new", "--out", mine); strings.Contains(shown, `"d"`) {
		t.Errorf("the private key was shown: %s", shown)
	}
	if info, err := os.Stat(mine); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the private key is open to others: %v, %v", info.Mode(), err)
	}
	if _, err := command(t, "", "keys", "new", "--out", mine); err == nil {
		t.Error("another key replaced the first")
	}
	reach := []string{"--v1", public, "--api-key-env", "SHOP_KEY"}
	if err := os.WriteFile(current, []byte(must(t, "", append([]string{"keys", "current"}, reach...)...)),
		0o600); err != nil {
		t.Fatal(err)
	}
	encrypted := must(t, `{"amount":1}`, "seal", "--key", current)
	if _, err := command(t, pay(t, public, encrypted), "open", "--private", mine); !errors.Is(err, errDerived) {
		t.Errorf("before a key was registered: got %v, want %v", err, errDerived)
	}
	must(t, "", append([]string{"keys", "register", "--private", mine}, reach...)...)
	if got := must(t, pay(t, public, encrypted), "open", "--private", mine); got != `{"amount":1}` {
		t.Errorf("got %q back, want the request body", got)
	}
	for path, want := range map[string]string{"/v1/transactions": `{"amount":1}`, "/v1/tokens": "mle_decrypt_failed"} {
		bound := must(t, `{"amount":1}`, "seal", "--key", current, "--path", path, "--response", "required")
		got := pay(t, public, bound)
		if !strings.Contains(got, "error") {
			got = must(t, got, "open", "--private", mine)
		}
		if !strings.Contains(got, want) {
			t.Errorf("bound to %s: got %s, want %s", path, got, want)
		}
	}
	if got := pay(t, public, must(t, "{}", "seal", "--key", current, "--idempotency-key", "one")); !strings.Contains(got,
		"idk") {
		t.Errorf("bound to an Idempotency-Key that is not sent: got %s", got)
	}
	if _, err := command(t, encrypted, "open", "--private", mine); err == nil {
		t.Error("a message to another was opened")
	}
	if _, err := command(t, encrypted, "open", "--private", current); err == nil {
		t.Error("a public key opened a message")
	}
	operate(t, keys)
	encrypted = must(t, `{}`, "seal", "--key", current)
	if got := pay(t, public, encrypted); !strings.Contains(got, "mle_kid_unknown") { // revoked before the command ended
		t.Errorf("a revoked key: got %s", got)
	}
}

// operate rotates the merchant's key and revokes the old one.
func operate(t *testing.T, keys string) {
	t.Helper()
	store := []string{"--keys", keys}
	listed := must(t, "", append([]string{"keys", "list"}, store...)...)
	kid := regexp.MustCompile(`mer_01jd8m3k2q4r5/test +(\S{43}) +\S+ +current`).FindStringSubmatch(listed)
	if kid == nil {
		t.Fatalf("got %s, want the merchant's current key", listed)
	}
	if shown := must(t, "", append([]string{"keys", "rotate", "--merchant", "mer_01jd8m3k2q4r5/test"},
		store...)...); !strings.Contains(shown, "previous "+kid[1]) {
		t.Errorf("got %s, want the old key as the previous one", shown)
	}
	must(t, "", append([]string{"keys", "revoke"}, append(store, kid[1])...)...)
	if _, err := command(t, "", append([]string{"keys", "retire"}, append(store, "nothing")...)...); err == nil {
		t.Error("a key that is not there was ended")
	}
}

// pay sends an encrypted payment.
func pay(t *testing.T, public, encrypted string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, public+"/v1/transactions",
		strings.NewReader(encrypted))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer sk_test_1", "Content-Type": "application/jose", "X-SVC-MLE": "v1",
		"X-SVC-MLE-Response": "required",
	} {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil || response.Body.Close() != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWrongUse(t *testing.T) {
	t.Parallel()
	unknown := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(unknown, []byte("listens: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args   []string
		code   int
		output string
	}{
		"help":                 {[]string{"--help"}, 0, "Exit codes:"},
		"help of seal":         {[]string{"seal", "-h"}, 0, "compact JWE"},
		"help of keys":         {[]string{"keys", "--help"}, 0, "mle-filter keys rotate"},
		"an unknown flag":      {[]string{"--lisen", "x"}, 2, "lisen"},
		"an argument":          {[]string{"serve"}, 2, `"serve"`},
		"an unknown key":       {[]string{"--config", unknown}, 1, "listens"},
		"seal, no key":         {[]string{"seal"}, 2, "--key"},
		"open, no key":         {[]string{"open"}, 2, "--private"},
		"keys, no command":     {[]string{"keys"}, 2, "keys: want new"},
		"keys, no such":        {[]string{"keys", "burn"}, 2, "keys: want new"},
		"keys revoke, no kid":  {[]string{"keys", "revoke"}, 2, "want a key id"},
		"keys, no such alg":    {[]string{"keys", "new", "--alg", "dir"}, 2, "--alg"},
		"seal to no JWK":       {[]string{"seal", "--key", unknown}, 1, "want a JWK with kid and alg"},
		"keys current, no key": {[]string{"keys", "current"}, 2, "--api-key-env"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			m := &Main{Stdin: strings.NewReader("{}"), Stdout: io.Discard, Stderr: &out}
			err := m.Command(t.Context(), tt.args)
			if err == nil {
				t.Fatal("got no error, want one")
			}
			got := program.ExitCode("mle-filter", m.Stderr, err)
			if got != tt.code || !strings.Contains(out.String(), tt.output) {
				t.Errorf("got exit code %d and %s, want %d and %s in it", got, out.String(), tt.code, tt.output)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	keys := config.Literal(secret.New(filepath.Join(t.TempDir(), "mle.db")))
	for name, c := range map[string]Config{
		"no KEK":     {Listen: "127.0.0.1:0", V1: "http://127.0.0.1:1", Keys: keys},
		"no v1":      {Listen: "127.0.0.1:0", Keys: keys, KEK: kek},
		"no address": {Listen: "nowhere:port", V1: "http://127.0.0.1:1", Keys: keys, KEK: kek},
		"no room":    {Listen: "127.0.0.1:0", V1: "http://127.0.0.1:1", Keys: keys, KEK: kek, Concurrency: -1},
		"no drain":   {Listen: "127.0.0.1:0", V1: "http://127.0.0.1:1", Keys: keys, KEK: kek, Drain: -time.Second},
		"no socket": {
			Listen: "127.0.0.1:0", V1: "http://127.0.0.1:1", Keys: keys, KEK: kek,
			ExtProc: configs + "mle-filter.yaml",
		},
		"no certificate": {Listen: "127.0.0.1:0", V1: "http://127.0.0.1:1", Keys: keys, KEK: kek, Certificate: "nowhere"},
		"no authority": {
			Listen: "127.0.0.1:0", V1: "https://127.0.0.1:1", Keys: keys, KEK: kek,
			V1CA: configs + "mle-filter.yaml",
		},
	} {
		ctx, serves := context.WithCancel(t.Context())
		m := &Main{Stderr: io.Discard, Config: c, Ready: func(net.Addr) { serves() }}
		if err := m.Run(ctx); err == nil || errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s: got %v, want an error", name, err)
		}
		serves()
	}
}
