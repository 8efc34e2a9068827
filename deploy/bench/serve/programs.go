package serve

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/causeway-pay/causeway/deploy/test/fleet"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// mockModule is the server with which P2 compares, at the version of its numbers.
const mockModule = "github.com/stripe/stripe-mock@v0.197.0"

// Programs starts the programs of a run. Each has a log file in one folder.
type Programs struct {
	built  string // folder of our own
	logs   string
	logged int // files
}

// Build builds our own programs.
func Build(ctx context.Context, logs string) (*Programs, error) {
	built, err := programtest.Programs(ctx, "standalone", "compat-proxy", "core", "passthrough")
	return &Programs{built: built, logs: logs}, err
}

// path returns the path of a program of our own.
func (p *Programs) path(name string) string { return filepath.Join(p.built, name) }

// log returns the path of a new log file.
func (p *Programs) log(name string) string {
	p.logged++
	return filepath.Join(p.logs, fmt.Sprintf("%s-%d.log", name, p.logged))
}

// listen starts a program whose last argument is an address to listen on, at a free one. It returns
// when the program listens.
func (p *Programs) listen(ctx context.Context, env []string, path string, args ...string) (*Process, error) {
	addr, err := programtest.Port(ctx)
	if err != nil {
		return nil, err
	}
	started, err := Start(ctx, env, p.log(filepath.Base(path)), path, append(args, addr)...)
	if err != nil {
		return nil, err
	}
	started.Addr = addr
	if err := started.Listens(ctx, addr); err != nil {
		return nil, fmt.Errorf("%w (%w, logs in %s)", err, started.Stop(), p.logs)
	}
	return started, nil
}

// Standalone is our running server.
type Standalone struct {
	*Process
	fleet.Ready
	Key      string // a secret test key
	Data     string // its folder
	Database string // path of the SQLite file
}

// Launch starts our server on the data folder, with plain HTTP at listen (host:port). It does not
// wait until the server is ready.
func (p *Programs) Launch(ctx context.Context, data, listen string) (*Process, error) {
	path := p.path("standalone")
	return Start(ctx, nil, p.log("standalone"), path, fleet.StandaloneArgs(data, "--listen", listen)...)
}

// Standalone launches our server on the data folder at a free port, and returns when the server is
// ready.
func (p *Programs) Standalone(ctx context.Context, data string) (*Standalone, error) {
	started, err := p.Launch(ctx, data, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ready, err := fleet.AwaitReady(ctx, started.Program)
	if err != nil {
		return nil, fmt.Errorf("%w (%w, logs in %s)", err, started.Stop(), p.logs)
	}
	started.Addr = strings.TrimPrefix(ready.HTTP, "http://")
	return &Standalone{
		Process: started, Ready: ready, Key: ready.Keys.SKTest, Data: data,
		Database: filepath.Join(data, "core", "causeway.db"),
	}, nil
}

// Proxy starts compat-proxy in front of a standalone, with its logins.
func (p *Programs) Proxy(ctx context.Context, s *Standalone) (*Process, error) {
	secret := "CAUSEWAY_DEDUPLICATION_SECRET_FILE=" + filepath.Join(s.Data, "deduplication.secret")
	logins := filepath.Join(s.Data, "compat-credentials.yaml")
	return p.listen(ctx, []string{secret}, p.path("compat-proxy"), "--v1", s.HTTP, "--credentials", logins, "--listen")
}

// Passthrough starts the reverse proxy that does nothing in front of a standalone.
func (p *Programs) Passthrough(ctx context.Context, s *Standalone) (*Process, error) {
	return p.listen(ctx, nil, p.path("passthrough"), "-to", s.HTTP, "-listen")
}

// Mock installs and starts the other server.
func (p *Programs) Mock(ctx context.Context) (*Process, error) {
	path, err := programtest.InstallGo(ctx, mockModule)
	if err != nil {
		return nil, err
	}
	return p.listen(ctx, nil, path, "-http-addr")
}
