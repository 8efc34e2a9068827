// Command core serves v1 and manages its merchants and API keys.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `core serves Causeway's v1, and manages its merchants and API keys.

Usage:
  core serve     [--data DIR] [--listen ADDR] [--simulator FILE]   serve v1 over plain HTTP, behind an edge that ends TLS;
                 [--admin ADDR]                                 metrics and health on a port for operators
                 [--rate-limit N]                                  N requests a second for each API key (500), 0 for no limit
                 [--webhooks-allow-private]                        deliver webhooks to this machine and private networks too
  core migrate   [--data DIR]                                      bring the store to this build's schema, and exit
  core merchants [--data DIR] create NAME                          make a merchant; prints its id
                 [--time-zone ZONE] [--cutoff HH:MM]               when its day ends and captures settle (UTC, 00:00)
                 [--unlinked-refunds on|off]                       whether it may refund to cards it took nothing from (off)
  core merchants [--data DIR] update mer_… [--time-zone ZONE]      change these
                 [--cutoff HH:MM] [--unlinked-refunds on|off]
  core merchants [--data DIR] list                                 all merchants: id, since when, name
  core keys      [--data DIR] create --merchant mer_…              make an API key; prints it, once
                 [--mode test|live] [--kind secret|publishable] [--scopes a,b,…] [--name NAME]
  core keys      [--data DIR] list --merchant mer_…                its keys, never the keys themselves
  core keys      [--data DIR] roll key_… [--overlap 24h]           put a new key in its place; prints it, once. The old one stays
                                                                   valid for that long, 24h at most
  core keys      [--data DIR] revoke key_… [--force]               end a key at once; a running service notices within a second
  core vault     [--data DIR] [--drop-old] rotate                  encrypt the card vault anew by a fresh key; progress on stderr
  core vault     [--data DIR] rewrap                               encrypt the vault's keys by CAUSEWAY_VAULT_KEK instead of by
                                                                   CAUSEWAY_VAULT_OLD_KEK, or of what root.secret gives
  core backup    [--data DIR] --to BACKUP                          copy DIR into a new folder, beside a running service
  core restore   [--data DIR] --from BACKUP                        make DIR, empty or missing, of a backup, after checking it

The vault's key-encryption key is CAUSEWAY_VAULT_KEK (32 bytes in base64), or in the file that CAUSEWAY_VAULT_KEK_FILE names; without
either it is derived from root.secret, for development.

merchants, keys, vault and backup work beside a running service on the same folder. DIR is ./data unless given.
Exit codes: 0 done, 1 failed, 2 wrong usage.
`

// errUsage is a command line that cannot be understood; it was explained already.
var errUsage = errors.New("usage")

// Main is the program; tests call Run.
type Main struct {
	Args   []string
	Stdout io.Writer
	Stderr io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	m := Main{Args: os.Args[1:], Stdout: os.Stdout, Stderr: os.Stderr}
	code := m.Run(ctx)
	stop()
	os.Exit(code)
}

// Run carries out the command line and returns the exit code.
func (m *Main) Run(ctx context.Context) int {
	err := m.run(ctx)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	default:
		_, _ = fmt.Fprintln(m.Stderr, "core:", err) // nobody is left to tell
		return 1
	}
}

func (m *Main) run(ctx context.Context) error {
	commands := map[string]func(context.Context, []string) error{
		"serve": m.serve, "migrate": m.migrate, "merchants": m.merchants, "keys": m.keys, "backup": m.backup, "restore": m.restore, "vault": m.vault,
	}
	if len(m.Args) == 0 {
		return m.misused("no command given")
	}
	switch m.Args[0] {
	case "help", "-h", "-help", "--help":
		_, err := io.WriteString(m.Stdout, usage)
		return err
	}
	run, ok := commands[m.Args[0]]
	if !ok {
		return m.misused(fmt.Sprintf("there is no command %q", m.Args[0]))
	}
	return run(ctx, m.Args[1:])
}

func (m *Main) misused(why string) error {
	_, _ = fmt.Fprintf(m.Stderr, "core: %s\n\n%s", why, usage)
	return errUsage
}

// flags returns a flag set that explains itself by the usage text.
func (m *Main) flags(name string) (*flag.FlagSet, *string) {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	return f, f.String("data", "./data", "data folder")
}

// parse reads args and returns what is left, wanting exactly n.
func (m *Main) parse(f *flag.FlagSet, args []string, n int) ([]string, error) {
	words, err := m.parseSome(f, args)
	if err == nil && len(words) != n {
		err = m.misused(fmt.Sprintf("%s takes %d words after its flags, got %d", f.Name(), n, len(words)))
	}
	return words, err
}

// parseSome reads the flags at the beginning of args and returns what follows.
func (m *Main) parseSome(f *flag.FlagSet, args []string) ([]string, error) {
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, _ = io.WriteString(m.Stdout, usage)
		return nil, err
	case err != nil:
		return nil, m.misused(f.Name() + ": " + err.Error())
	}
	return f.Args(), nil
}
