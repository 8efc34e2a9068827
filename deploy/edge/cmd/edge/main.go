package main

import (
	"context"
	"flag"
	"io"
	"net"
	"os"
	"time"

	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/probe"
	"github.com/causeway-pay/causeway/shared/program"
)

func main() {
	m := NewMain()
	if code, asked := operators.Command(context.Background(), os.Args[1:], m.Stdout, m.Stderr); asked {
		os.Exit(code)
	}
	os.Exit(program.Main(name, m.Stderr, func(ctx context.Context) error { return m.Command(ctx, os.Args[1:]) }))
}

const name = "edge"

// operators is the default address of the operators' port, and the path of the health check.
var operators = probe.Program{Name: name, Admin: "127.0.0.1:9084", Path: "/health"}

const usage = `edge configures the Envoys in front of the service, rotates their certificates, and publishes these.

Usage:
  edge --config FILE                     serve
  edge check --config FILE               report every mistake in a configuration and in the certificates of its folder
  edge bootstrap --config FILE [flags]   print the file to start an Envoy that gets its resources from this program
  edge static --config FILE [flags]      print a file to start an Envoy without this program
  edge drain [flags]                     let an Envoy finish its requests before its stop
  edge health [--admin ADDR]             check the health of a running one, on its operators' port (127.0.0.1:9084)
  edge version

Examples:
  edge check --config configs/edge.yaml
  edge --config configs/edge.yaml &
  edge bootstrap --config configs/edge.yaml --node edge-1 > envoy.yaml && envoy -c envoy.yaml

Signals:
  SIGHUP           read the configuration again, as after a change of the file. A wrong one is refused, with the reason
  SIGTERM, SIGINT  end the streams and exit; Envoys keep their resources

Environment, also with _FILE appended, for the path of a file:
  CAUSEWAY_HOP_SECRET      authenticates the client address that Envoy forwards, the same for all programs (none)
  CAUSEWAY_FILTER_TOKEN    core's token, to send merchants the events of rotations; see operator in the file (none)

Exit codes:
  0  stopped by a signal, or finished
  1  could not start, or failed: with check, the configuration has a mistake
  2  wrong flags

Flags:
`

// Main is the program. Tests start it like the command line.
type Main struct {
	// Stdout receives the output of commands, Stderr the log and the errors.
	Stdout, Stderr io.Writer
	// Ready is called after the listener for Envoys is open. It may be nil.
	Ready func()
	// AdminReady is called before Ready with the address of the operators' port. It may be nil.
	AdminReady func(net.Addr)
	// Look is the interval of the checks of the file and the clock; 0 for a second.
	Look time.Duration
	// Again is the time between two deliveries of a refused listener; 0 for ten seconds.
	Again time.Duration

	path   string
	seen   []byte        // digest of the file, from before it was read
	config config.Config // of the start; rollout.Plane has the present one
}

// NewMain returns the program without a configuration.
func NewMain() *Main { return &Main{Stdout: os.Stdout, Stderr: os.Stderr} }

// Command runs the command line.
func (m *Main) Command(ctx context.Context, args []string) error {
	word := ""
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		word, args = args[0], args[1:]
	}
	if word == "drain" {
		return m.drain(ctx, args)
	}
	f := &flags{}
	fs := f.set(m.Stderr)
	if err := program.Parse(fs, args, 0); err != nil {
		return err
	}
	run, known := map[string]func(context.Context, *flags) error{
		"": m.serve, "serve": m.serve, "check": m.check, "bootstrap": m.bootstrap, "static": m.static,
	}[word]
	if !known {
		return program.Misused(m.Stderr, name, "%q is not a command", word)
	}
	if f.config == "" {
		return program.Misused(m.Stderr, name, "--config is required")
	}
	seen := digest(f.config)
	c, err := load(f.config)
	if err != nil {
		return err
	}
	m.path, m.seen, m.config = f.config, seen, c
	return run(ctx, f)
}

// load reads the configuration file, and the hop secret from the environment.
func load(path string) (config.Config, error) {
	c, err := config.Load(path)
	if err == nil {
		c.HopSecret, err = httpx.HopSecret(os.Getenv)
	}
	return c, err
}

// flags are the flags of all commands.
type flags struct {
	config, node, admin, stats, tls string
	certificate, key                string
}

func (f *flags) set(out io.Writer) *flag.FlagSet {
	fs := program.Flags(name, out, usage)
	fs.StringVar(&f.config, "config", "", "configuration `file`; every key in it is explained in configs/edge.yaml")
	fs.StringVar(&f.node, "node", "edge-1",
		"bootstrap, static: the `id` of the Envoy; with mutual TLS, a name of its certificate")
	fs.StringVar(&f.admin, "admin", "127.0.0.1:9901",
		"bootstrap, static: `address` of Envoy's administration; a port gives every user of the machine its secrets, "+
			"so use unix:PATH in production")
	fs.StringVar(&f.stats, "stats", "",
		"bootstrap, static: `address` of Envoy's /stats/prometheus and /ready, for operators (default none)")
	fs.StringVar(&f.tls, "tls", "/etc/causeway/xds",
		"bootstrap: `folder` of certificate.pem, private_key.pem and xds_ca.pem, where xds.listen is an address")
	fs.StringVar(&f.certificate, "certificate", "data/edge/certificates/edge.crt",
		"static: PEM `file` of the certificate, with its chain")
	fs.StringVar(&f.key, "key", "data/edge/certificates/edge.key", "static: PEM `file` of its key")
	return fs
}
