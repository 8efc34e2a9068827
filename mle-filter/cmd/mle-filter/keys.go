package main

import (
	"context"
	"flag"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/shared/program"
)

const keysUsage = `mle-filter keys makes and registers a merchant's keys, and manages the keys of the service.

Usage, for merchants:
  mle-filter keys new --out FILE [--alg ALG]
        makes a key pair for responses: writes the private JWK to a new file, and shows the public JWK
  mle-filter keys current --v1 URL --api-key-env VAR [--alg ALG]
        shows the key that requests must be encrypted to
  mle-filter keys register --v1 URL --api-key-env VAR --private FILE
        registers the public half of a response key pair, and proves possession of the private half

Usage, for operators, with the store and the CAUSEWAY_MLE_KEK of a filter. Changes apply immediately in running filters.
These commands never make a merchant's first key: the service makes it at the merchant's first request for one.
  mle-filter keys inventory
        lists every secret, key and certificate, with its use, its start and its replacement
  mle-filter keys list   [--merchant mer_…/test]
  mle-filter keys rotate --merchant mer_…/test [--alg ALG]
        makes another key current; the old key decrypts until the end of the overlap
  mle-filter keys retire KID
        ends a previous key early
  mle-filter keys revoke KID
        ends any key immediately and permanently

ALG is ECDH-ES+A256KW, the default, or RSA-OAEP-256.

Exit codes:
  0  success
  1  failure
  2  wrong flags

Flags:
`

// keysFlags are the flags of all commands.
type keysFlags struct {
	alg, out, private, v1, apiKeyEnv string
	merchant, config, keys           string
	kid                              string
}

// keysCommand is a command: the number of its arguments and the names of its flags.
type keysCommand struct {
	words int
	flags []string
	run   func(context.Context, keysFlags) error
}

func (m *Main) keysCommands() map[string]keysCommand {
	return map[string]keysCommand{
		"new":       {0, []string{"alg", "out"}, m.newKey},
		"current":   {0, []string{"alg", "v1", "api-key-env"}, m.currentKey},
		"register":  {0, []string{"private", "v1", "api-key-env"}, m.registerKey},
		"inventory": {0, []string{"config", "keys"}, m.inventory},
		"list":      {0, []string{"merchant", "config", "keys"}, m.listKeys},
		"rotate":    {0, []string{"merchant", "alg", "config", "keys"}, m.rotateKey},
		"retire":    {1, []string{"config", "keys"}, m.retireKey},
		"revoke":    {1, []string{"config", "keys"}, m.revokeKey},
	}
}

// Keys runs a keys command.
func (m *Main) Keys(ctx context.Context, args []string) error {
	name := ""
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		name, args = args[0], args[1:]
	}
	var f keysFlags
	fs := f.set(m.Stderr)
	command, known := m.keysCommands()[name]
	words, err := m.words(fs, args, command.words)
	if err != nil {
		return err
	}
	if !known {
		return m.misused("keys: want new, current, register, inventory, list, rotate, retire or revoke")
	}
	if len(words) < command.words {
		return m.misused("keys %s: want a key id", name)
	}
	f.kid = strings.Join(words, "")
	if alg := engine.Alg(f.alg); !alg.Known() {
		return m.misused("--alg: want ECDH-ES+A256KW or RSA-OAEP-256")
	}
	if f.merchant != "" && !tenant.MatchString(f.merchant) {
		return m.misused("--merchant: want a merchant and its mode: mer_…/test or mer_…/live")
	}
	var strange error
	fs.Visit(func(g *flag.Flag) {
		if strange == nil && !slices.Contains(command.flags, g.Name) {
			strange = m.misused("keys %s does not take --%s", name, g.Name)
		}
	})
	if strange != nil {
		return strange
	}
	return command.run(ctx, f)
}

// tenant matches a merchant and its mode.
var tenant = regexp.MustCompile(`^mer_[0-9a-z]+/(test|live)$`)

// dashed matches a key id that looks like a flag: one in 64 begins with a dash.
var dashed = regexp.MustCompile(`^-[A-Za-z0-9_-]{42}$`)

// words parses flags and arguments in any order, and rejects more than atMost arguments.
func (m *Main) words(fs *flag.FlagSet, args []string, atMost int) (words []string, err error) {
	var rest []string
	for _, a := range args {
		if dashed.MatchString(a) {
			words = append(words, a)
		} else {
			rest = append(rest, a)
		}
	}
	for {
		if err := program.Parse(fs, rest, len(rest)); err != nil {
			return nil, err
		}
		if rest = fs.Args(); len(rest) == 0 {
			break
		}
		words, rest = append(words, rest[0]), rest[1:]
	}
	if len(words) > atMost {
		return nil, m.misused("unexpected argument %q", words[atMost])
	}
	return words, nil
}

func (f *keysFlags) set(out io.Writer) *flag.FlagSet {
	fs := program.Flags(name+" keys", out, keysUsage)
	fs.StringVar(&f.alg, "alg", string(engine.ECDHESA256KW), "new, current, rotate: the `algorithm` of the key")
	fs.StringVar(&f.out, "out", "", "new: the `file` to create")
	fs.StringVar(&f.private, "private", "", "register: the `file` that new made")
	fs.StringVar(&f.v1, "v1", "http://127.0.0.1:8082", "current, register: base `URL` of the service")
	fs.StringVar(&f.apiKeyEnv, "api-key-env", "", "current, register: environment `variable` with the API key")
	fs.StringVar(&f.merchant, "merchant", "", "list, rotate: the `merchant` and its mode")
	fs.StringVar(&f.config, "config", "", "inventory, list, rotate, retire, revoke: the filter's configuration `file`")
	fs.StringVar(&f.keys, "keys", "", "inventory, list, rotate, retire, revoke: the filter's key store: an existing "+
		"`file`, or a URL")
	return fs
}
