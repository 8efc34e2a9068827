package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/program"
	"github.com/causeway-pay/causeway/shared/secret"
)

const configs = "../../../configs/"

func TestShippedConfiguration(t *testing.T) {
	t.Parallel()
	m := &Main{Stderr: io.Discard}
	args := []string{
		"--config", configs + "compat-proxy.yaml", "--credentials", configs + "compat-credentials.yaml",
		"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
	}
	if err := m.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	want := Config{
		Listen: "127.0.0.1:0", Admin: "127.0.0.1:0", V1: "http://127.0.0.1:8080",
		Credentials: configs + "compat-credentials.yaml", DropInPaths: true,
		Currency: "usd", CallTimeout: 30 * time.Second, TotalTimeout: 50 * time.Second, Concurrency: 512,
		Drain: 10 * time.Second, SignatureAge: 15 * time.Minute, SignatureHosts: []string{},
	}
	if !reflect.DeepEqual(m.Config, want) {
		t.Errorf("got %+v, want %+v", m.Config, want)
	}

	m.Config.DeduplicationSecret = config.Literal(secret.New(deduplicationSecret))
	ctx, stop := context.WithCancel(t.Context())
	ready := make(chan net.Addr, 1)
	operators := make(chan net.Addr, 1)
	m.AdminReady = func(a net.Addr) { operators <- a }
	m.Ready = func(a net.Addr) { ready <- a }
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	select {
	case addr := <-ready:
		mustGet(t, "http://"+addr.String()+"/compat/methods")
		mustGet(t, "http://"+(<-operators).String()+"/metrics")
	case err := <-ended:
		t.Fatalf("ended before it was ready: %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("got %v, want a clean stop", err)
	}
}

func mustGet(t *testing.T, url string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	if got, want := resp.StatusCode, http.StatusOK; got != want {
		t.Errorf("status: got %d, want %d", got, want)
	}
}

func TestParseFlags(t *testing.T) {
	t.Parallel()
	unknown := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(unknown, []byte("listens: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		args   []string
		code   int
		output string
	}{
		{"help", []string{"--help"}, 0, "Exit codes:"},
		{"an unknown flag", []string{"--lisen", "x"}, 2, "lisen"},
		{"an argument", []string{"serve"}, 2, `"serve"`},
		{"an unknown key", []string{"--config", unknown}, 1, "listens"},
		{"no such file", []string{"--config", unknown + "x"}, 1, "config.yamlx"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			m := &Main{Stderr: &out}
			err := m.ParseFlags(tt.args)
			if err == nil {
				t.Fatal("got no error, want one")
			}
			if got := program.ExitCode("compat-proxy", m.Stderr, err); got != tt.code {
				t.Errorf("exit code: got %d, want %d", got, tt.code)
			}
			if !strings.Contains(out.String(), tt.output) {
				t.Errorf("output: got %s, want %s in it", out.String(), tt.output)
			}
		})
	}
}

func TestHelpIsNoError(t *testing.T) {
	t.Parallel()
	m := &Main{Stderr: io.Discard}
	if err := m.ParseFlags([]string{"-h"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("got %v, want flag.ErrHelp", err)
	}
}

const deduplicationSecret = "a deduplication secret for tests only"

// TestDeduplicationSecrets: the secrets come from the file, or else from the environment. A proxy
// without one does not start, because it could not recognise the retry of a request to another
// proxy.
func TestDeduplicationSecrets(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("of the file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	written := config.Literal(secret.New("of the configuration"))
	for name, tt := range map[string]struct {
		config         Config
		env            map[string]string
		current, other string
		fault          string
	}{
		"none":        {Config{}, nil, "", "", secretVariable},
		"other alone": {Config{}, map[string]string{otherVariable: "b"}, "", "", secretVariable},
		"environment": {Config{}, map[string]string{secretVariable: "a", otherVariable: "b"}, "a", "b", ""},
		"files": {
			Config{},
			map[string]string{secretVariable + "_FILE": file, otherVariable + "_FILE": file},
			"of the file", "of the file", "",
		},
		"configuration": {
			Config{DeduplicationSecret: written, DeduplicationSecretOther: written},
			map[string]string{secretVariable: "a"},
			"of the configuration", "of the configuration", "",
		},
		"no such file": {Config{}, map[string]string{secretVariable + "_FILE": file + "x"}, "", "", "deduplication_secret"},
		"no other file": {
			Config{},
			map[string]string{secretVariable: "a", otherVariable + "_FILE": file + "x"},
			"", "",
			"deduplication_secret_other",
		},
	} {
		current, other, err := tt.config.secrets(func(name string) string { return tt.env[name] })
		if (err != nil) != (tt.fault != "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: got %v, want %q", name, err, tt.fault)
		}
		if err == nil && (current.Reveal() != tt.current || other.Reveal() != tt.other) {
			t.Errorf("%s: got %q and %q, want %q and %q", name, current.Reveal(), other.Reveal(), tt.current, tt.other)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	given := config.Literal(secret.New(deduplicationSecret))
	for name, c := range map[string]Config{
		"v1":                            {Listen: "127.0.0.1:0", DeduplicationSecret: given},
		"listen":                        {Listen: "nowhere:port", V1: "http://127.0.0.1:1", DeduplicationSecret: given},
		"CAUSEWAY_DEDUPLICATION_SECRET": {Listen: "127.0.0.1:0", V1: "http://127.0.0.1:1"},
	} {
		m := &Main{Stderr: io.Discard, Config: c}
		if err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want an error that names %s", err, name)
		}
	}
}
