package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// mockModule is the server that P2 compares with, at the version that its numbers are for.
const mockModule = "github.com/stripe/stripe-mock@v0.197.0"

// Programs are the paths of the built programs.
type Programs struct {
	Standalone  string
	Proxy       string // compat-proxy
	Filter      string // mle-filter
	Core, Edge  string
	Passthrough string // a reverse proxy that does nothing
	Mock        string // "" unless asked for
}

// Build builds our own programs, and when withMock installs the other server into root/.cache/bin.
func Build(ctx context.Context, root string, withMock bool) (Programs, error) {
	folder, err := programtest.Programs(ctx, "standalone", "compat-proxy", "mle-filter", "core", "edge", "passthrough")
	if err != nil {
		return Programs{}, err
	}
	p := Programs{
		Standalone: filepath.Join(folder, "standalone"), Proxy: filepath.Join(folder, "compat-proxy"), Filter: filepath.Join(folder, "mle-filter"),
		Core: filepath.Join(folder, "core"), Edge: filepath.Join(folder, "edge"), Passthrough: filepath.Join(folder, "passthrough"),
	}
	if withMock {
		p.Mock, err = installMock(ctx, filepath.Join(root, ".cache", "bin"))
	}
	return p, err
}

// installMock installs the other server into a folder, unless it is there.
func installMock(ctx context.Context, bin string) (string, error) {
	_, version, _ := strings.Cut(mockModule, "@")
	mock := filepath.Join(bin, "stripe-mock-"+version)
	if _, err := os.Stat(mock); err == nil {
		return mock, nil
	}
	cmd := exec.CommandContext(ctx, "go", "install", mockModule)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "GOBIN="+bin), os.Stderr, os.Stderr
	if err := errors.Join(os.MkdirAll(bin, 0o750), cmd.Run(), os.Rename(filepath.Join(bin, "stripe-mock"), mock)); err != nil {
		return "", fmt.Errorf("install %s: %w", mockModule, err)
	}
	return mock, nil
}

// Standalone is our running server.
type Standalone struct {
	*Process
	Addr     string // host:port of plain HTTP
	Key      string // a secret test key
	Database string // path of the SQLite file
	Logins   string // path of the file that maps legacy logins to API keys
	// Legacy is a login of provider-a, Signer one of provider-b.
	Legacy Legacy
	Signer Signer
}

// Legacy is a login of provider-a as standalone prints it.
type Legacy struct {
	Name           string `json:"name"`
	TransactionKey string `json:"transaction_key"`
}

// Signer is a login of provider-b by HTTP signature as standalone prints it.
type Signer struct {
	MerchantID   string `json:"merchant_id"`
	KeyID        string `json:"key_id"`
	SharedSecret string `json:"shared_secret"` // base64
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
	line, err := p.Line(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", err, p.Stop())
	}
	var ready struct {
		HTTP string `json:"http"`
		Keys struct {
			Secret string `json:"sk_test"`
		} `json:"keys"`
		ProviderA Legacy `json:"provider_a"`
		ProviderB Signer `json:"provider_b"`
	}
	if err := json.Unmarshal([]byte(line), &ready); err != nil {
		return nil, fmt.Errorf("read what standalone prints: %w (%w)", err, p.Stop())
	}
	return &Standalone{
		Process: p, Addr: strings.TrimPrefix(ready.HTTP, "http://"), Key: ready.Keys.Secret,
		Database: filepath.Join(data, "core", "causeway.db"), Logins: filepath.Join(data, "compat-credentials.yaml"),
		Legacy: ready.ProviderA, Signer: ready.ProviderB,
	}, nil
}

// Listening is a running program and where it listens.
type Listening struct {
	*Process
	Addr string // host:port
}

// StartProxy starts compat-proxy in front of v1 (host:port), with the logins of a file in a
// standalone's data folder. It may take a moment until it accepts connections.
func StartProxy(ctx context.Context, program, logFile, v1, logins string) (*Listening, error) {
	kept := "CAUSEWAY_DEDUPLICATION_SECRET_FILE=" + filepath.Join(filepath.Dir(logins), "deduplication.secret")
	return listen(ctx, []string{kept}, logFile, program, "--v1", "http://"+v1, "--credentials", logins, "--listen")
}

// StartPassthrough starts the reverse proxy that does nothing in front of v1 (host:port). It may take a moment, too.
func StartPassthrough(ctx context.Context, program, logFile, v1 string) (*Listening, error) {
	return listen(ctx, nil, logFile, program, "-to", "http://"+v1, "-listen")
}

// StartMock starts the other server. It may take a moment, too.
func StartMock(ctx context.Context, program, logFile string) (*Listening, error) {
	return listen(ctx, nil, logFile, program, "-http-addr")
}

// listen starts a program whose last argument is an address to listen on, on a free one.
func listen(ctx context.Context, env []string, logFile, program string, args ...string) (*Listening, error) {
	addr, err := programtest.Port(ctx)
	if err != nil {
		return nil, err
	}
	p, err := startWith(ctx, env, logFile, program, append(args, addr)...)
	if err != nil {
		return nil, err
	}
	return &Listening{Process: p, Addr: addr}, nil
}
