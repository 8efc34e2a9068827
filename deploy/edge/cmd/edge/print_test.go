package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
	"github.com/causeway-pay/causeway/shared/certfile/certtest"
	"github.com/causeway-pay/causeway/shared/envoytest"
	"github.com/causeway-pay/causeway/shared/program"
)

var update = flag.Bool("update", false, "write the files of configs that the program makes")

const configs = "../../../../configs/"

// output returns the output of a command.
func output(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	m := &Main{Stdout: &out, Stderr: io.Discard}
	err := m.Command(t.Context(), args)
	return out.String(), err
}

// TestGenerated compares the files next to the example with the output of the program. Envoy
// accepts them.
func TestGenerated(t *testing.T) {
	t.Parallel()
	issued := certtest.Root(t).Intermediate(t).Issue(t, certtest.Hosts("api.example.com", "trust.example.com"))
	for _, command := range []string{"bootstrap", "static"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			got, err := output(t, command, "--config", configs+"edge.yaml")
			if err != nil {
				t.Fatal(err)
			}
			got = strings.ReplaceAll(got, configs, "configs/")
			file := configs + "envoy-" + command + ".yaml"
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || got != string(want) {
				t.Errorf("%s is not what the program prints now (%v); go test ./cmd/edge -update, and read the difference", file,
					err)
			}
			dir := t.TempDir()
			issued.Write(t, dir, "edge")
			copied := filepath.Join(dir, "envoy.yaml")
			certtest.Replace(t, copied, []byte(strings.ReplaceAll(got, "data/edge/certificates", dir)))
			envoytest.Validate(t, copied)
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	if got, err := output(t, "check", "--config", b.path("edge.yaml")); err != nil ||
		!strings.Contains(got, "nothing is wrong") {
		t.Errorf("got %q, %v", got, err)
	}
	b.authority.Issue(t, certtest.Hosts("other.example.com")).Write(t, b.path("certs"), "edge")
	if _, err := output(t, "check", "--config", b.path("edge.yaml")); err == nil || !strings.Contains(err.Error(), host) {
		t.Errorf("a certificate for another host: got %v", err)
	}
	b.configure(t, "limits: {timeout: 1ms}\nroutes: [{path: /a, upstream: nowhere}, {path: b, upstream: core}]")
	var faults *config.FaultsError
	_, err := output(t, "check", "--config", b.path("edge.yaml"))
	if !errors.As(err, &faults) || len(faults.Faults) != 3 ||
		program.ExitCode(name, io.Discard, err) != program.ExitFailed {
		t.Errorf("got %v", err)
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]int{
		"": program.ExitUsage, "nonsense --config x": program.ExitUsage, "check": program.ExitUsage,
		"--help":                   program.ExitDone,
		"check --config none.yaml": program.ExitFailed,
	} {
		_, err := output(t, strings.Fields(args)...)
		if got := program.ExitCode(name, io.Discard, err); got != want {
			t.Errorf("%s: got %d, %v, want %d", args, got, err, want)
		}
	}
}

// TestCheckToken checks that check reports an error that would prevent the start.
func TestCheckToken(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	b.configure(t, "operator: http://127.0.0.1:1\nfilter_token: {file: /nonexistent}")
	if _, err := output(t, "check", "--config", b.path("edge.yaml")); err == nil ||
		!strings.Contains(err.Error(), "filter_token: ") {
		t.Errorf("got %v", err)
	}
}
