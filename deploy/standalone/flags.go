package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
)

// help is the output of --help.
var help = strings.ReplaceAll(`standalone runs all of Causeway in one process, for development and tests.

  standalone [--data DIR] [--listen ADDR] [--listen-tls ADDR] [--json] [--configs DIR] [--log LEVEL] [--admin ADDR]
             [--rate-limit N] [--webhooks-allow-private] [--certificates DIR] [--insecure-http]
  standalone health [--admin ADDR]     check the health of a running one, on its operators' port (127.0.0.1:9083)
  standalone version

It creates all files in DIR: the store, a development certificate authority, one merchant and its credentials.
A second start on the same DIR finds the same merchant and prints the same credentials. When it is ready, it prints the
addresses, the credentials and one request to paste for each endpoint. Ctrl-C or SIGTERM stops it after the requests in
progress, within 10 s.

  --data DIR         folder of all data (default ./data), for one process at a time
  --listen ADDR      host:port of plain HTTP, a loopback address (default 127.0.0.1:8080); port 0 picks a free one
  --listen-tls ADDR  host:port of HTTPS (default 127.0.0.1:8443); port 0 picks a free one
  --json             print one line of JSON when ready, for programs, and no other text on stdout
  --configs DIR      read simulator.yaml, the test cards, from DIR instead of the built-in one
  --log LEVEL        lowest level of the JSON lines on stderr: info (one line for each request), warn or error
                     (default warn, with --json info)
  --admin ADDR       host:port for operators: Prometheus metrics at /metrics, /v1/health, and the operator's API for
                     merchants and keys at /admin/v1, on a loopback address. Its token is in DIR/operator-token
                     (default none)
  --rate-limit N     requests a second for each API key (default RATE, above the load of every test), with bursts of
                     twice as many; 0 for no limit
  --webhooks-allow-private
                     deliver webhooks also to this machine and to private networks, not only to the public internet
  --certificates DIR serve HTTPS with your own certificate instead of the development one: NAME.crt with its chain and
                     NAME.key, one pair, or one ECDSA and one RSA. New files are served immediately, without a restart.
                     An invalid pair is refused with the reason, and the previous one stays
  --insecure-http    allow --listen and --admin on every address. Plain HTTP shows card numbers and keys to the network:
                     only for a network that no other machine reaches

Both addresses serve every endpoint:

  /v1/…       v1, also with encrypted bodies (keys at /v1/mle/keys/current)
  /v1/trust   the certificate's fingerprints, and the calendar of its changes
  /compat/…   the legacy dialects, also under the providers' own paths

  curl http://127.0.0.1:8080/v1/health                             can it take payments?
  curl --cacert DIR/tls/ca.pem https://127.0.0.1:8443/v1/health    the same over HTTPS

Exit codes: 0 stopped by a signal; 1 could not start or stop cleanly; 2 invalid flags.
`, "RATE", strconv.Itoa(defaultRateLimit))

// defaultRateLimit is far above core's default: here one key carries the whole load of a test or a
// benchmark.
const defaultRateLimit = 25_000

// Flags are the settings of the command line. Make them with ParseFlags.
type Flags struct {
	Data      string     // folder, created if missing
	Configs   string     // folder of simulator.yaml; "" for the built-in one
	Listen    string     // host:port of plain HTTP
	ListenTLS string     // host:port of HTTPS
	JSON      bool       // print one line of JSON instead of the greeting
	Log       slog.Level // lowest level of the log on stderr
	Admin     string     // host:port for operators; "" for none
	RateLimit int        // requests a second for each API key, 0 for no limit

	Certificates string // folder of the user's own certificates; "" for a development one

	WebhooksAllowPrivate bool // webhook endpoints may be on this machine
	InsecureHTTP         bool // plain HTTP may be served on every address
}

// ParseFlags parses the command line. It returns flag.ErrHelp for --help; any other error names the
// flag.
func ParseFlags(args []string) (Flags, error) {
	var f Flags
	var level string
	set := flag.NewFlagSet("standalone", flag.ContinueOnError)
	set.SetOutput(io.Discard) // main prints the error
	set.StringVar(&f.Data, "data", "./data", "")
	set.StringVar(&f.Configs, "configs", "", "")
	set.StringVar(&f.Listen, "listen", "127.0.0.1:8080", "")
	set.StringVar(&f.ListenTLS, "listen-tls", "127.0.0.1:8443", "")
	set.BoolVar(&f.JSON, "json", false, "")
	set.StringVar(&f.Admin, "admin", "", "")
	set.StringVar(&f.Certificates, "certificates", "", "")
	set.StringVar(&level, "log", "", "")
	set.IntVar(&f.RateLimit, "rate-limit", defaultRateLimit, "")
	set.BoolVar(&f.WebhooksAllowPrivate, "webhooks-allow-private", false, "")
	set.BoolVar(&f.InsecureHTTP, "insecure-http", false, "")
	if err := set.Parse(args); err != nil {
		return Flags{}, err
	}
	if set.NArg() > 0 {
		return Flags{}, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	if f.Data == "" {
		return Flags{}, errors.New("--data must name a folder")
	}
	if f.RateLimit < 0 {
		return Flags{}, fmt.Errorf("--rate-limit %d: want 0 or more requests a second, 0 for no limit", f.RateLimit)
	}
	if err := f.checkAddresses(); err != nil {
		return Flags{}, err
	}
	if level == "" && f.JSON {
		level = "info"
	}
	return f, parseLevel(cmp.Or(level, "warn"), &f.Log)
}

// checkAddresses checks the form of the public addresses, and refuses plain HTTP for other
// machines.
func (f Flags) checkAddresses() error {
	for _, listener := range []struct{ flag, addr string }{{"--listen", f.Listen}, {"--listen-tls", f.ListenTLS}} {
		if _, _, err := net.SplitHostPort(listener.addr); err != nil {
			return fmt.Errorf("%s %q: want host:port", listener.flag, listener.addr)
		}
	}
	for _, plain := range []struct{ flag, addr string }{{"--listen", f.Listen}, {"--admin", f.Admin}} {
		if !f.InsecureHTTP && plain.addr != "" && !isLocal(plain.addr) {
			return fmt.Errorf("%s %s: plain HTTP shows card numbers and keys to the network, so it is served on a loopback "+
				"address, such as 127.0.0.1: use --listen-tls for other machines, or allow it with --insecure-http",
				plain.flag, plain.addr)
		}
	}
	return nil
}

// isLocal reports whether only programs on this machine reach an address: loopback or a unix
// socket. localhost is the only name accepted, because another name can resolve to another address
// later.
func isLocal(addr string) bool {
	if strings.HasPrefix(addr, "unix:") {
		return true
	}
	host, _, err := net.SplitHostPort(addr)
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

func parseLevel(text string, into *slog.Level) error {
	levels := map[string]slog.Level{"info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}
	level, ok := levels[text]
	if !ok {
		return fmt.Errorf("--log %q: want info, warn or error", text)
	}
	*into = level
	return nil
}
