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

// help is what --help prints.
var help = strings.ReplaceAll(`standalone runs all of Causeway in one process, for development and tests.

  standalone [--data DIR] [--listen ADDR] [--listen-tls ADDR] [--json] [--configs DIR] [--log LEVEL] [--admin ADDR]
             [--rate-limit N] [--webhooks-allow-private] [--certificates DIR]
  standalone health [--admin ADDR]     ask a running one whether it is well, on its port for operators (127.0.0.1:9083)
  standalone version

It fills DIR by itself: the store, a development certificate authority, one merchant and credentials for every door. A second
start on the same DIR finds the same merchant and prints the same credentials. When it is ready it prints the addresses, the
credentials and one request to paste for each door; Ctrl-C (or SIGTERM) lets requests under way finish, for 10 s at most.

  --data DIR         where everything is kept (default ./data); one process at a time
  --listen ADDR      host:port of plain HTTP (default 127.0.0.1:8080); port 0 picks a free one
  --listen-tls ADDR  host:port of HTTPS (default 127.0.0.1:8443); port 0 picks a free one
  --json             print one line of JSON for programs instead, when ready, and nothing else on stdout
  --configs DIR      read simulator.yaml, the test cards, from DIR instead of the built-in one
  --log LEVEL        what goes to stderr as JSON lines: info has one line per request, warn, error
                     (default warn, with --json info)
  --admin ADDR       host:port for operators: Prometheus metrics at /metrics, /v1/health, and the operator's API at /admin/v1, for
                     merchants and keys. An operator token for it is in operator-token in the data folder (default none)
  --rate-limit N     requests a second for each API key (default RATE, which no test meets), and twice as many at once; 0 for no limit
  --webhooks-allow-private
                     deliver webhooks to this machine and to private networks too, not only to the public internet
  --certificates DIR serve HTTPS with your own certificate instead of the development one: NAME.crt with its chain and NAME.key beside it,
                     one pair, or one ECDSA and one RSA. New files are served at once, without a restart; a pair with something wrong is
                     refused with the reason, and the one before stays

Both addresses serve every door, and /v1/trust tells of the certificate, its calendar of changes included: /v1/… for new merchants, encrypted bodies too (keys at /v1/mle/keys/current), /compat/… and the legacy providers' own paths for old ones.

  curl http://127.0.0.1:8080/v1/health                             whether it can take payments
  curl --cacert DIR/tls/ca.pem https://127.0.0.1:8443/v1/health    the same over HTTPS

Exit codes: 0 stopped when asked to; 1 could not start or stop cleanly; 2 flags that make no sense.
`, "RATE", strconv.Itoa(defaultRateLimit))

// defaultRateLimit is far above core's: here one key carries the whole load of a test or a benchmark.
const defaultRateLimit = 25_000

// Flags say what to run. ParseFlags makes them.
type Flags struct {
	Data      string     // folder, made when missing
	Configs   string     // folder of simulator.yaml; "" for the built-in one
	Listen    string     // host:port of plain HTTP
	ListenTLS string     // host:port of HTTPS
	JSON      bool       // print for programs
	Log       slog.Level // the least that goes to stderr
	Admin     string     // host:port for operators; "" for none
	RateLimit int        // requests a second for each API key, 0 for no limit

	Certificates string // folder of the user's own; "" for a development one

	WebhooksAllowPrivate bool // webhook endpoints may be on this machine
}

// ParseFlags reads the command line. It returns flag.ErrHelp when help is asked for; any other error names the flag.
func ParseFlags(args []string) (Flags, error) {
	var f Flags
	var level string
	set := flag.NewFlagSet("standalone", flag.ContinueOnError)
	set.SetOutput(io.Discard) // main prints the error and where help is
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
		return Flags{}, fmt.Errorf("--rate-limit %d: want a number of requests a second, 0 for no limit", f.RateLimit)
	}
	for _, listener := range []struct{ flag, addr string }{{"--listen", f.Listen}, {"--listen-tls", f.ListenTLS}} {
		if _, _, err := net.SplitHostPort(listener.addr); err != nil {
			return Flags{}, fmt.Errorf("%s %q: want host:port", listener.flag, listener.addr)
		}
	}
	if level == "" && f.JSON {
		level = "info"
	}
	return f, parseLevel(cmp.Or(level, "warn"), &f.Log)
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
