// Command core serves v1 and manages its merchants and API keys.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/shared/probe"
	"github.com/causeway-pay/causeway/shared/program"
)

// usage is the text of help.
var usage = strings.ReplaceAll(`core serves Causeway's v1, and manages its merchants and API keys.

  core merchants create "My shop"              make a merchant; prints mer_…
  core keys create --merchant mer_…            make an API key for it; prints sk_test_…, once
  core serve                                   serve v1 on 127.0.0.1:8080

Usage:
  core serve     [--listen ADDR]               serve v1 over plain HTTP, behind an edge that ends TLS (127.0.0.1:8080)
                 [--admin ADDR]                metrics, health and the operator's API on a port for operators (none)
                 [--simulator FILE]            the test cards, instead of the built-in ones
                 [--simulator-journal FILE]    record the simulator's effects in FILE, which cores of one machine may share (simulator.journal
                                               in the data folder; required with a store on PostgreSQL)
                 [--rate-limit N]              N requests a second for each API key (RATE), and twice as many at once after a pause; 0 for no
                                               limit
                 [--merchant-rate-limit N]     N requests a second for all keys of a merchant in one mode (4 times --rate-limit)
                 [--notice 0s]                 how long to go on serving once it is to stop, with health red, so that nobody sends requests here
                                               any more when it ends: for one of several behind a load balancer
                 [--keep-events DAYS]          remove events after so many days, 60 to 36525 (0: keep them for good)
                 [--keep-audit DAYS]           remove audit records after so many days, 366 at least (0: keep them for good)
                 [--keep-personal-data DAYS]   erase personal data of payments after so many days, 60 to 36525 (0: keep it for good)
                 [--keep-customers DAYS]       delete customers without a payment or a change for so many days, 60 to 36525 (0: never)
                 [--webhooks-allow-private]    deliver webhooks to this machine and private networks too
  core health    [--admin ADDR]                ask a running one whether it is well, on its port for operators (127.0.0.1:9080)
  core version                                 print the release
  core migrate                                 bring the store to this build's schema, and exit

  core merchants create NAME                   make a merchant; prints its id
                 [--time-zone ZONE]            where its day ends and captures settle: an IANA name, such as Europe/Vienna (UTC)
                 [--cutoff HH:MM]              and when (00:00)
                 [--unlinked-refunds on|off]   whether it may refund to cards it took nothing from (off)
                 [--keep-personal-data DAYS] [--keep-customers DAYS]
                                               its own periods in place of those of serve (0: those of serve)
  core merchants update mer_…                  change these, or its [--name NAME]; what is not given stays
  core merchants disable mer_…                 refuse its API keys; what is open is finished, settled and delivered
  core merchants enable mer_…                  take them again
  core merchants list                          all merchants: since when, status, when their day ends, unlinked refunds, name

  core keys create --merchant mer_…            make an API key; prints it, once
                 [--mode test|live] [--kind secret|publishable] [--scopes a,b,…] [--name NAME]
  core keys list --merchant mer_…              its keys, never the keys themselves
  core keys roll key_… [--overlap 24h]         put a new key in its place; prints it, once. The old one stays valid for that long, 24h
                                               at most
  core keys revoke key_… [--force]             end a key at once; --force for the last one that can manage keys

  core keys inventory [--json]                 all secrets and keys that core holds, with algorithm, age, use and next rotation; never a
                                               secret itself

  core steps list                              requests to the acquirer without an outcome, and pending reversals, oldest first
                 [--merchant mer_…] [--kind KIND] [--limit 50]
  core steps show STEP                         one of them: txn_…, void_…, cap_…, re_… or rev_…
  core steps resolve STEP --outcome OUTCOME --reason TEXT
                                               end one that the acquirer cannot decide: approved, declined or no_effect, by its statement;
                                               a pending reversal: released
  core personal-data due                       personal data that is past its period and not yet erased, per merchant and kind: rows
                                               and the oldest
                 [--keep-personal-data DAYS] [--keep-customers DAYS]
                                               the periods of serve
  core vault rotate [--drop-old]               encrypt the card vault anew by a fresh key; progress on stderr
  core vault rewrap                            encrypt the vault's keys by CAUSEWAY_VAULT_KEK instead of by CAUSEWAY_VAULT_OLD_KEK, or of
                                               what root.secret gives; with --store the old one must be given
  core secrets rotate                          add a version of the root secret, which cores use a minute later; older ones stay valid
  core secrets drop-old                        remove the older versions; refused while anything needs them, and for 24 hours

  core operators create NAME                   make an operator token for the operator's API; prints op_…, once
                 [--role operator|auditor|filter-identify] [--expires 2160h]
  core operators list                          all operator tokens, never the tokens themselves
  core operators revoke opr_…                  end an operator token at once

  core audit list [--limit 50]                 the newest records of operators' actions, by API and command line
  core audit verify [--head SEQUENCE:MAC]      check that no record was changed, removed or reordered; prints the head. With a head that
                                               was logged ("audit head"), also that none of the newest was removed
  core audit export                            all records, oldest first, one JSON object in each line

  core backup --to BACKUP                      copy the data folder into a new folder, beside a running service
  core restore --from BACKUP                   make the data folder, empty or missing, of a backup, after checking it

Every command takes --data DIR, the data folder (./data; of a standalone with data in ./data it is ./data/core), and flags before or after its
words. merchants, keys, vault and backup work beside a running service on the same folder, which notices within a second. Only serve,
migrate, restore and merchants create make a store where there is none.

--store URL in the place of --data keeps all of it on a PostgreSQL server instead: postgres://USER:PASSWORD@HOST:PORT/DATABASE, several hosts with
commas between them. Any number of cores may serve one. It needs CAUSEWAY_VAULT_KEK, the same for every core and command. A command line can be seen
by others: rather set CAUSEWAY_STORE.

Environment, each one also with _FILE behind it, for a file that holds it:
  CAUSEWAY_VAULT_KEK        the key-encryption key of the card vault, 32 bytes in base64; derived from root.secret unless set, which
                            is for development
  CAUSEWAY_STORE            the URL of --store
  CAUSEWAY_FILTER_TOKEN     the token that mle-filter and the edge show at /admin/v1 of --admin, with the role filter-identify:
                            openssl rand -base64 32. People get one each, by core operators create
  CAUSEWAY_HOP_SECRET       authenticates the client address that the hop in front forwards. The same for all programs
  CAUSEWAY_FILTER_SECRET    what the filter in front sends with every request; all others are refused, but for health. The same as its own
                            secret: openssl rand -base64 32

Exit codes: 0 done, 1 failed, 2 wrong usage.
`, "RATE", strconv.Itoa(core.DefaultRateLimit))

// operators is the health endpoint on the operators' port, which container runtimes probe.
var operators = probe.Program{Name: "core", Admin: "127.0.0.1:9080", Path: "/v1/health"}

// Main is the program; tests call Run.
type Main struct {
	Args   []string
	Stdout io.Writer
	Stderr io.Writer
}

func main() {
	m := Main{Args: os.Args[1:], Stdout: os.Stdout, Stderr: os.Stderr}
	if code, asked := operators.Command(context.Background(), m.Args, m.Stdout, m.Stderr); asked {
		os.Exit(code)
	}
	os.Exit(program.Main("core", m.Stderr, m.run))
}

// Run runs the command line and returns the exit code.
func (m *Main) Run(ctx context.Context) int { return program.ExitCode("core", m.Stderr, m.run(ctx)) }

func (m *Main) run(ctx context.Context) error {
	commands := map[string]func(context.Context, []string) error{
		"serve": m.serve, "migrate": m.migrate, "merchants": m.merchants, "keys": m.keys, "backup": m.backup, "restore": m.restore, "vault": m.vault,
		"audit": m.audit, "secrets": m.secrets, "operators": m.operators, "steps": m.steps,
		"personal-data": m.personalData,
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
	_, _ = fmt.Fprintf(m.Stderr, "core: %s\n\n%s", why, usage) // stderr may be closed
	return program.ErrUsage
}

// flags returns a flag set without its own help: the usage text explains the flags.
func (m *Main) flags(name string) (*flag.FlagSet, *place) {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	return f, placeFlags(f)
}

// parse parses the flags and returns the arguments, which must be exactly n.
func (m *Main) parse(f *flag.FlagSet, args []string, n int) ([]string, error) {
	words, err := m.parseSome(f, args)
	if err == nil && len(words) != n {
		err = m.misused(fmt.Sprintf("%s takes %d words after its flags, got %d", f.Name(), n, len(words)))
	}
	return words, err
}

// parseSome parses the flags at the beginning of args and returns the other arguments.
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
