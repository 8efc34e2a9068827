package bench

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"github.com/causeway-pay/causeway/deploy/test/fleet"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// mockModule is the server with which P2 compares, at the version of its numbers.
const mockModule = "github.com/stripe/stripe-mock@v0.197.0"

// process is a running program, with default settings as in production.
type process struct {
	*programtest.Program
	addr string // host:port at which it listens, "" if it is unknown
}

// start starts a program until the end of the scope, which fails unless the program then ends with
// exit code 0 or by the signal. Its standard error is in a log file.
func (b *Bench) start(env []string, path string, args ...string) *process {
	log := must(os.Create(b.path(filepath.Base(path)) + ".log"))
	defer func() { _ = log.Close() }() // the program has its own descriptor
	p := programtest.Start(b, programtest.Command{
		Path: path, Args: args, Env: env, Stdout: &programtest.Log{Most: 64 << 10}, Stderr: log,
	})
	context.AfterFunc(b.ctx, func() { p.Signal(syscall.SIGTERM) })
	b.Cleanup(func() {
		if err := p.Terminate(); programtest.ExitCode(err) > 0 {
			b.Errorf("stop %s: %w", p.Name(), err)
		}
	})
	return &process{Program: p}
}

// listen starts a program whose last argument is an address to listen on, at a free one. It returns
// when the program listens.
func (b *Bench) listen(env []string, path string, args ...string) *process {
	addr := programtest.MustPort(b)
	p := b.start(env, path, append(args, addr)...)
	p.addr = addr
	check(p.Listens(b.ctx, addr))
	return p
}

// program returns the path of a program of our own.
func (b *Bench) program(name string) string { return filepath.Join(b.programs, name) }

// standalone is our running server.
type standalone struct {
	*process
	fleet.Ready
	key      string // a secret test key
	data     string // its folder
	database string // path of the SQLite file
}

// launch starts our server on the data folder, with plain HTTP at listen (host:port). It does not
// wait until the server is ready.
func (b *Bench) launch(data, listen string) *process {
	return b.start(nil, b.program("standalone"), fleet.StandaloneArgs(data, "--listen", listen)...)
}

// standalone launches our server on the data folder at a free port, and returns when the server is
// ready.
func (b *Bench) standalone(data string) *standalone {
	p := b.launch(data, "127.0.0.1:0")
	ready := must(fleet.AwaitReady(b.ctx, p.Program))
	p.addr = strings.TrimPrefix(ready.HTTP, "http://")
	return &standalone{
		process: p, Ready: ready, key: ready.Keys.SKTest, data: data,
		database: filepath.Join(data, "core", "causeway.db"),
	}
}

// server starts a standalone with an empty store.
func (b *Bench) server() *standalone { return b.standalone(b.folder("data")) }

// proxies are compat-proxy and a reverse proxy that does nothing, both in front of one server.
type proxies struct {
	core         *standalone
	compat, bare *process
}

// proxies starts both proxies in front of a server with an empty store.
func (b *Bench) proxies() *proxies {
	s := b.server()
	secret := "CAUSEWAY_DEDUPLICATION_SECRET_FILE=" + filepath.Join(s.data, "deduplication.secret")
	logins := filepath.Join(s.data, "compat-credentials.yaml")
	return &proxies{
		core: s,
		compat: b.listen([]string{secret}, b.program("compat-proxy"), "--v1", s.HTTP, "--credentials", logins,
			"--listen"),
		bare: b.listen(nil, b.program("passthrough"), "-to", s.HTTP, "-listen"),
	}
}

// ticks is the number of units per second in which Linux counts processor time.
const ticks = 100

// processor is a program with a processor time.
type processor interface {
	// cpu returns the processor time that the program has used. It needs Linux.
	cpu() time.Duration
}

// cpu implements processor.
func (p *process) cpu() time.Duration {
	stat := must(must(procfs.NewProc(p.PID())).Stat())
	return time.Duration(stat.UTime+stat.STime) * time.Second / ticks //nolint:gosec // no process is that old
}

// peakMemory returns the highest resident memory of the process so far, in bytes. It needs Linux.
func (p *process) peakMemory() uint64 { return must(must(procfs.NewProc(p.PID())).NewStatus()).VmHWM }
