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
	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/shared/probe"
	"github.com/causeway-pay/causeway/shared/program"
)

// usage is the text of help.
var usage = strings.NewReplacer(
	"RATE", strconv.Itoa(core.DefaultRateLimit), "PAYER_DECLINES", strconv.Itoa(core.DefaultPayerDeclineLimit),
	"DECLINES", strconv.Itoa(core.DefaultDeclineLimit),
).Replace(`core serves Causeway's v1, and manages its merchants and API keys.

  core merchants create "My shop"              create a merchant; prints mer_…
  core keys create --merchant mer_…            create an API key for it; prints sk_test_…, once
  core serve                                   serve v1 on 127.0.0.1:8080

Usage:
  core serve     [--listen ADDR]               serve v1 over plain HTTP, behind an edge that terminates TLS (127.0.0.1:8080)
                 [--admin ADDR]                metrics, health and the operators' API on another port (none)
                 [--simulator FILE]            the test cards, instead of the built-in ones
                 [--simulator-journal FILE]    record the simulator's effects in FILE, which cores on one machine may share (simulator.journal
                                               in the data folder; required with a store on PostgreSQL)
                 [--rate-limit N]              N requests a second for each API key (RATE), and twice as many after a pause; 0 for no
                                               limit
                 [--merchant-rate-limit N]     N requests a second for all keys of a merchant in one mode (4 times --rate-limit)
                 [--payer-rate-limit N]        N requests a second for a client address with a merchant's publishable keys in one mode (a tenth of
                                               --rate-limit)
                 [--decline-limit N]           N declined confirmations an hour for each publishable key (DECLINES), and twice as many after a pause;
                                               beyond it none is sent to the acquirer; 0 for no limit
                 [--payer-decline-limit N]     N declined confirmations an hour for a client address (PAYER_DECLINES); 0 for no limit
                 [--notice 0s]                 time for which core still serves after SIGTERM, with 503 for health: the load balancer of several
                                               cores must notice within it
                 [--keep-events DAYS]          delete events after that many days, 60 to 36525 (0: never)
                 [--keep-audit DAYS]           delete audit records after that many days, at least 366 (0: never)
                 [--keep-personal-data DAYS]   erase personal data of payments after that many days, 60 to 36525 (0: never)
                 [--keep-customers DAYS]       delete customers without a payment or a change for that many days, 60 to 36525 (0: never)
                 [--webhooks-allow-private]    also deliver webhooks to this machine and private networks
  core health    [--admin ADDR]                check the health of a running core, on its operators' port (127.0.0.1:9080)
  core version                                 print the release
  core migrate                                 bring the store to this build's schema, and exit

  core merchants create NAME                   create a merchant; prints its id
                 [--time-zone ZONE]            time zone of its day, after which captures settle: an IANA name, such as Europe/Vienna (UTC)
                 [--cutoff HH:MM]              end of its day (00:00)
                 [--unlinked-refunds on|off]   whether it may refund to a card without a payment (off)
                 [--keep-personal-data DAYS] [--keep-customers DAYS]
                                               its periods, instead of the periods of serve (0: the periods of serve)
  core merchants update mer_…                  change the settings of create, or its [--name NAME]; others stay
  core merchants disable mer_…                 reject its API keys; core completes, settles and delivers its open operations
  core merchants enable mer_…                  accept its API keys again
  core merchants list                          all merchants: creation, status, end of day, unlinked refunds, name

  core accounts add --merchant mer_… --kind KIND --currency usd --base-url https://… --credentials FILE
                                               add a merchant's account at an acquirer, for live mode; prints acct_…
                 [--method card|bank_account]  the payment sources that it serves (card)
                 [--second]                    add the second account for failover
                 [--setting NAME=VALUE]…       the settings of the kind
                 [--unchecked]                 do not have the acquirer check the credentials first
  core accounts list [--merchant mer_…]        all accounts: merchant, kind, currency, method, status, rotation, base URL, settings
  core accounts check acct_…                   have the acquirer check the credentials; moves no money
  core accounts rotate acct_… --credentials FILE [--unchecked]
                                               check new credentials, and replace the old ones; cores use them within a second
  core accounts disable acct_…                 send it no new payments; its open payments finish
  core accounts enable acct_…                  send it new payments again

  core keys create --merchant mer_…            create an API key; prints it, once
                 [--mode test|live] [--kind secret|publishable] [--scopes a,b,…] [--name NAME]
                 [--addresses a,b,…]           the client addresses and networks that can use it (all)
                 [--origins a,b,…]             the origins of web pages that can use it, if it is publishable (all)
  core keys list --merchant mer_…              its keys, without the keys themselves
  core keys roll key_… [--overlap 24h]         replace a key; prints the new key, once. The old key stays valid for the overlap, at most 24h
                 [--addresses a,b,…] [--origins a,b,…]
                                               its lists, instead of the lists of the old key; "" for all
  core keys revoke key_… [--force]             end a key immediately; --force for the last one that can manage keys

  core keys inventory [--json]                 all secrets and keys of core, with algorithm, age, use and next rotation, without their
                                               values

  core steps list                              requests to the acquirer without an outcome, and pending reversals, oldest first
                 [--merchant mer_…] [--kind KIND] [--limit 50]
  core steps show STEP                         one of them: txn_…, void_…, cap_…, re_… or rev_…
  core steps resolve STEP --outcome OUTCOME --reason TEXT [--as-of TIME] [--acquirer-id ID]
                                               record the outcome that the acquirer has stated, which is final: approved, declined or
                                               no_effect; for a pending reversal: released. An approval needs the time at which the
                                               acquirer's records were read, such as 2026-11-22T14:05:00Z, and at CyberSource its id
  core settlements list                        captures of live mode that the acquirer does not report as settled, oldest first
                 [--merchant mer_…] [--limit 50]
  core settlements resolve cap_… --outcome settled|not_settled --reason TEXT
                                               record what the acquirer's statement shows; moves no money, and is final
                 [--despite-failed-report]     settled although the acquirer's report is that it failed
  core personal-data due                       personal data past its period and not yet erased, per merchant and kind: rows and the oldest
                 [--keep-personal-data DAYS] [--keep-customers DAYS]
                                               the periods of serve
  core vault rotate [--drop-old]               encrypt the card vault by a new key; progress on stderr
  core vault rewrap                            encrypt the vault's keys by CAUSEWAY_VAULT_KEK instead of CAUSEWAY_VAULT_OLD_KEK, or of the key
                                               derived from root.secret; with --store CAUSEWAY_VAULT_OLD_KEK is required
  core secrets rotate                          add a version of the root secret, which cores use a minute later; older ones stay valid
  core secrets drop-old                        remove the older versions; rejected while any is needed, and for 24 hours

  core mle announce ENDPOINT… --from DATE      require encrypted bodies on endpoints such as "POST /v1/tokens" from a date, at least 366
                                               days from now; prints mlr_…, and every merchant gets an event; WARNING: from that date on, a
                                               program that calls these endpoints in the clear is refused, also a merchant's own proxy
  core mle withdraw mlr_…                      withdraw a requirement; every merchant gets an event
  core mle list                                all requirements: announcement, date, withdrawal, endpoints

  core operators create NAME                   create an operator token for the operators' API; prints op_…, once
                 [--role operator|auditor|filter-identify] [--expires 2160h]
  core operators list                          all operator tokens, without the tokens themselves
  core operators revoke opr_…                  end an operator token immediately

  core audit list [--limit 50]                 the newest records of operators' actions, by API and command line
  core audit verify [--head SEQUENCE:MAC]      check that no record was changed, removed or reordered; prints the head. With a head from the
                                               log ("audit head"), also that none of the newest was removed
  core audit export                            all records, oldest first, one JSON object in each line

  core backup --to BACKUP                      copy the data folder to a new folder; the service may run
  core restore --from BACKUP                   check a backup, and create the data folder from it; the folder must be empty or missing

Every command has --data DIR, the data folder (./data; for a standalone with its data in ./data it is ./data/core). Flags may precede or follow the
other arguments. merchants, accounts, keys, vault and backup may run during a service on the same folder, which applies the change within a second. Only serve,
migrate, restore and merchants create create a missing store.

The credentials of an account are a JSON object of texts, such as {"transaction_key":"…"}: in a file, or with - on standard input, never in an argument.

--store URL, instead of --data, keeps all data on a PostgreSQL server: postgres://USER:PASSWORD@HOST:PORT/DATABASE, with commas between several
hosts. Several cores may serve one store. It needs CAUSEWAY_VAULT_KEK, the same for every core and command. Other users can see a command line, so
set CAUSEWAY_STORE instead.

Environment; each variable also with the suffix _FILE, for a file that holds the value:
  CAUSEWAY_VAULT_KEK        the key-encryption key of the card vault, 32 bytes in base64; for development it is derived from root.secret
                            if not set
  CAUSEWAY_STORE            the URL of --store
  CAUSEWAY_FILTER_TOKEN     the token that mle-filter and the edge send to /admin/v1 of --admin, with the role filter-identify:
                            openssl rand -base64 32. People get individual tokens, by core operators create
  CAUSEWAY_HOP_SECRET       authenticates the client address between the programs; the same for all programs
  CAUSEWAY_FILTER_SECRET    the secret of mle-filter, sent with every request; core rejects other requests, except for health:
                            openssl rand -base64 32

Exit codes: 0 success, 1 failure, 2 wrong usage.
`)

// operators is the health endpoint on the operators' port, which container runtimes probe.
var operators = probe.Program{Name: "core", Admin: "127.0.0.1:9080", Path: "/v1/health"}

// Main is the program; tests call Run.
type Main struct {
	Args   []string
	Stdin  io.Reader // of credentials; nil for none
	Stdout io.Writer
	Stderr io.Writer

	kinds account.Kinds // of acquirers; nil for all that core has
}

func main() {
	m := Main{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
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
		"audit": m.audit, "secrets": m.secrets, "operators": m.operators, "steps": m.steps, "settlements": m.settlements,
		"personal-data": m.personalData, "mle": m.mle, "accounts": m.accounts,
	}
	if len(m.Args) == 0 {
		return m.misused("no command: use one of these")
	}
	switch m.Args[0] {
	case "help", "-h", "-help", "--help":
		_, err := io.WriteString(m.Stdout, usageOf(beforeFlags(m.Args[1:])))
		return err
	}
	run, ok := commands[m.Args[0]]
	if !ok {
		return m.misused(fmt.Sprintf("unknown command %q", m.Args[0]))
	}
	return run(ctx, m.Args[1:])
}

func (m *Main) misused(why string) error {
	_, _ = fmt.Fprintf(m.Stderr, "core: %s\n\n%s", why, usageOf(m.Args)) // stderr may be closed
	return program.ErrUsage
}

// flags returns a flag set without its own help: the usage text explains the flags.
func (m *Main) flags(name string) (*flag.FlagSet, *storeFlags) {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	return f, addStoreFlags(f)
}

// parse parses flags and arguments in any order, and returns the arguments, exactly n.
func (m *Main) parse(f *flag.FlagSet, args []string, n int) ([]string, error) {
	words, err := m.words(f, args)
	if err == nil && len(words) != n {
		err = m.misused(fmt.Sprintf("%s: want %d arguments in addition to the flags, got %d", f.Name(), n, len(words)))
	}
	return words, err
}

// words parses flags and arguments in any order, and returns the arguments.
func (m *Main) words(f *flag.FlagSet, args []string) ([]string, error) {
	var words []string
	for {
		rest, err := m.parseSome(f, args)
		if err != nil || len(rest) == 0 {
			return words, err
		}
		words, args = append(words, rest[0]), rest[1:]
	}
}

// parseSome parses the flags at the beginning of args and returns the other arguments.
func (m *Main) parseSome(f *flag.FlagSet, args []string) ([]string, error) {
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, _ = io.WriteString(m.Stdout, usageOf(m.Args))
		return nil, err
	case err != nil:
		return nil, m.misused(f.Name() + ": " + err.Error())
	}
	return f.Args(), nil
}
