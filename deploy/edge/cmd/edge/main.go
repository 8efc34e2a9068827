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

// operators is where operators look, and what container runtimes ask.
var operators = probe.Program{Name: name, Admin: "127.0.0.1:9084", Path: "/health"}

const usage = `edge configures the Envoys in front of the service, keeps their certificates, and tells the world about these.

Usage:
  edge --config FILE                     serve
  edge check --config FILE               say everything that is wrong with a configuration, and with the certificates in its folder
  edge bootstrap --config FILE [flags]   print the file to start an Envoy by that asks this program
  edge static --config FILE [flags]      print a file to start an Envoy by that asks nobody
  edge drain [flags]                     have an Envoy finish what it has, before it is stopped
  edge health [--admin ADDR]             ask a running one whether it lives, on its port for operators (127.0.0.1:9084)
  edge version

Examples:
  edge check --config configs/edge.yaml
  edge --config configs/edge.yaml &
  edge bootstrap --config configs/edge.yaml --node edge-1 > envoy.yaml && envoy -c envoy.yaml

Signals:
  SIGHUP           read the configuration again; it is read when the file changes, too. One with a fault is refused with the reason
  SIGTERM, SIGINT  end the streams and exit; Envoys keep what they have

Environment, also with _FILE behind it, for a file that holds it:
  CAUSEWAY_HOP_SECRET      authenticates the client address that Envoy forwards, the same for all programs (none)
  CAUSEWAY_FILTER_TOKEN    core's, with which merchants are told of rotations; see operator in the configuration file (none)

Exit codes:
  0  stopped as asked, or done
  1  could not start, or not done: with check, something is wrong
  2  wrong flags

Flags:
`

// Main is the program. Tests start it as the command line does.
type Main struct {
	// Stdout receives what is printed, Stderr the log and what is wrong.
	Stdout, Stderr io.Writer
	// Ready is called once Envoys can ask. It may be nil.
	Ready func()
	// AdminReady is called before Ready with the address of the operators' port. It may be nil.
	AdminReady func(net.Addr)
	// Look is how often the file and the clock are looked at; 0 for a second.
	Look time.Duration

	path   string
	config config.Config
}

// NewMain returns the program with nothing configured.
func NewMain() *Main { return &Main{Stdout: os.Stdout, Stderr: os.Stderr} }

// Command does what the command line says.
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
		return program.Misused(m.Stderr, name, "%q is no command", word)
	}
	if f.config == "" {
		return program.Misused(m.Stderr, name, "--config is required")
	}
	c, err := load(f.config)
	if err != nil {
		return err
	}
	m.path, m.config = f.config, c
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

// flags are those of all commands.
type flags struct {
	config, node, admin, stats, tls string
	certificate, key                string
}

func (f *flags) set(out io.Writer) *flag.FlagSet {
	fs := program.Flags(name, out, usage)
	fs.StringVar(&f.config, "config", "", "configuration `file`; every key in it is explained in configs/edge.yaml")
	fs.StringVar(&f.node, "node", "edge-1", "bootstrap, static: the `id` of the Envoy; with mutual TLS, a name of its certificate")
	fs.StringVar(&f.admin, "admin", "127.0.0.1:9901", "bootstrap, static: `address` of Envoy's administration; never one that others reach")
	fs.StringVar(&f.stats, "stats", "", "bootstrap, static: `address` where Envoy shows operators /stats/prometheus and /ready, and nothing else (default none)")
	fs.StringVar(&f.tls, "tls", "/etc/causeway/xds", "bootstrap: `folder` of certificate.pem, private_key.pem and xds_ca.pem, where xds.listen is an address")
	fs.StringVar(&f.certificate, "certificate", "data/edge/certificates/edge.crt", "static: PEM `file` of the certificate, with its chain")
	fs.StringVar(&f.key, "key", "data/edge/certificates/edge.key", "static: PEM `file` of its key")
	return fs
}
