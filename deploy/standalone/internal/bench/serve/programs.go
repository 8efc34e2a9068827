package serve

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
)

// mockModule is the server that P2 compares with, at the version that its numbers are for.
const mockModule = "github.com/stripe/stripe-mock@v0.197.0"

// Programs are the paths of the built programs.
type Programs struct {
	Standalone string
	Mock       string // "" unless asked for
}

// Build builds our own program from the checkout at root and, when withMock, installs the other server, both into root/.cache/bin.
func Build(ctx context.Context, root string, withMock bool) (Programs, error) {
	bin := filepath.Join(root, ".cache", "bin")
	p := Programs{Standalone: filepath.Join(bin, "bench-standalone")}
	if err := goTool(ctx, root, bin, "build", "-trimpath", "-o", p.Standalone, "./deploy/standalone"); err != nil {
		return p, err
	}
	if !withMock {
		return p, nil
	}
	_, version, _ := strings.Cut(mockModule, "@")
	p.Mock = filepath.Join(bin, "stripe-mock-"+version)
	if _, err := os.Stat(p.Mock); err == nil {
		return p, nil
	}
	if err := goTool(ctx, bin, bin, "install", mockModule); err != nil {
		return p, err
	}
	if err := os.Rename(filepath.Join(bin, "stripe-mock"), p.Mock); err != nil {
		return p, fmt.Errorf("install %s: %w", mockModule, err)
	}
	return p, nil
}

func goTool(ctx context.Context, dir, bin string, args ...string) error {
	if err := os.MkdirAll(bin, 0o750); err != nil {
		return fmt.Errorf("go %s: %w", args[0], err)
	}
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // arguments are constants and paths of this checkout
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stderr, os.Stderr
	cmd.Env = append(os.Environ(), "GOBIN="+bin)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// Standalone is our running server.
type Standalone struct {
	*Process
	Addr     string // host:port of plain HTTP
	Key      string // a secret test key
	Database string // path of the SQLite file
}

// Launch starts our server on the data folder, listening for plain HTTP on listen (host:port), and does not wait until it is ready.
func Launch(ctx context.Context, program, data, listen string) (*Process, error) {
	return Start(ctx, data+".log", program, "--data", data, "--listen", listen, "--listen-tls", "127.0.0.1:0", "--json",
		"--rate-limit", "0") // one key makes all the load
}

// StartStandalone launches our server on the data folder, at a port of its choice, and returns when it is ready.
func StartStandalone(ctx context.Context, program, data string) (*Standalone, error) {
	p, err := Launch(ctx, program, data, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	line, err := p.Line()
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", err, p.Stop())
	}
	p.Discard()
	var ready struct {
		HTTP string `json:"http"`
		Keys struct {
			Secret string `json:"sk_test"`
		} `json:"keys"`
	}
	if err := json.Unmarshal([]byte(line), &ready); err != nil {
		return nil, fmt.Errorf("read what standalone prints: %w (%w)", err, p.Stop())
	}
	return &Standalone{
		Process: p, Addr: strings.TrimPrefix(ready.HTTP, "http://"), Key: ready.Keys.Secret,
		Database: filepath.Join(data, "core", "causeway.db"),
	}, nil
}

// Mock is the running other server.
type Mock struct {
	*Process
	Addr string // host:port
}

// StartMock starts the other server. It may take a moment until it accepts connections.
func StartMock(ctx context.Context, program, logFile string) (*Mock, error) {
	addr, err := FreeAddr(ctx)
	if err != nil {
		return nil, err
	}
	p, err := Start(ctx, logFile, program, "-http-addr", addr)
	if err != nil {
		return nil, err
	}
	p.Discard()
	return &Mock{Process: p, Addr: addr}, nil
}
