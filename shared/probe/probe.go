package probe

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// The exit codes, as everywhere with us.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// maxBody is how many bytes of an unhealthy program's response are shown.
const maxBody = 4 << 10

// Program is the program that the commands describe.
type Program struct {
	Name string
	// Admin is the usual address of its operators' port, Path the path of its health there.
	Admin, Path string
}

// Command carries out `health` and `version`, and returns the exit code; ok is false for all other
// command lines, which are the program's own.
func (p Program) Command(ctx context.Context, args []string, stdout, stderr io.Writer) (code int, ok bool) {
	if len(args) == 0 {
		return 0, false
	}
	switch args[0] {
	case "health":
		return p.health(ctx, args[1:], stdout, stderr), true
	case "version":
		_, _ = fmt.Fprintln(stdout, p.Name, Version()) // an output that fails cannot report it
		return exitDone, true
	}
	return 0, false
}

func (p Program) health(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet(p.Name+" health", flag.ContinueOnError)
	fs.SetOutput(stderr)
	admin := fs.String("admin", p.Admin,
		"`address` of the operators' port, as in the program's settings: host:port, or unix:PATH")
	patience := fs.Duration("timeout", 5*time.Second, "longest `duration` of the check")
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err != nil:
		return exitUsage
	case fs.NArg() > 0:
		_, _ = fmt.Fprintf(stderr, "%s health: unexpected argument %q\n", p.Name, fs.Arg(0))
		return exitUsage
	}
	ctx, cancel := context.WithTimeout(ctx, *patience)
	defer cancel()
	if err := query(ctx, *admin, p.Path, stdout); err != nil {
		_, _ = fmt.Fprintf(stderr, "%s health: %v\n", p.Name, err)
		return exitFailed
	}
	return exitDone
}

// query copies a program's health response to a writer, and returns an error unless the program is
// healthy.
func query(ctx context.Context, admin, path string, to io.Writer) error {
	network, address, err := target(admin)
	if err != nil {
		return err
	}
	var dialer net.Dialer
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, address)
		},
	}
	host := address
	if network == "unix" {
		host = "localhost"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+path, http.NoBody)
	if err != nil {
		return err
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, io.LimitReader(response.Body, maxBody))
	if response.StatusCode != http.StatusOK {
		err = errors.Join(fmt.Errorf("%s%s returned %d", admin, path, response.StatusCode), err)
	}
	return errors.Join(err, response.Body.Close())
}

// target returns where to reach a program that listens on an address: on this machine, if that is
// every address.
func target(admin string) (network, address string, err error) {
	if path, isUnix := strings.CutPrefix(admin, "unix:"); isUnix {
		return "unix", path, nil
	}
	host, port, err := net.SplitHostPort(admin)
	if err != nil {
		return "", "", fmt.Errorf("admin: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "tcp", net.JoinHostPort(host, port), nil
}
