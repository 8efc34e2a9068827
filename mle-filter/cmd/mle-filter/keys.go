package main

import (
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	mlefilter "github.com/causeway-pay/causeway/mle-filter"
	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/mle-filter/internal/keystore/postgres"
	"github.com/causeway-pay/causeway/shared/config"
)

const keysUsage = `mle-filter keys makes and registers a merchant's keys, and manages those of the service.

Usage, for merchants:
  mle-filter keys new --out FILE [--alg ALG]
        makes a pair for answers: the private JWK into a new file, the public one shown
  mle-filter keys current --v1 URL --api-key-env VAR [--alg ALG]
        shows the key to encrypt requests to
  mle-filter keys register --v1 URL --api-key-env VAR --private FILE
        registers the public half of a pair for answers, and proves that the private half is there

Usage, for operators, on the same store as a filter and with its CAUSEWAY_MLE_KEK; running filters follow at once:
  mle-filter keys list   [--merchant mer_…/test]
  mle-filter keys rotate --merchant mer_…/test [--alg ALG]
        makes another key current; the old one decrypts for as long as planned
  mle-filter keys retire KID
        ends a previous key before its time
  mle-filter keys revoke KID
        ends any key at once and for good

ALG is ECDH-ES+A256KW, the default, or RSA-OAEP-256.

Exit codes:
  0  done
  1  not done
  2  wrong flags

Flags:
`

// keysFlags are the flags of all the commands.
type keysFlags struct {
	alg, out, private, v1, apiKeyEnv string
	merchant, config, keys           string
	kid                              string
}

// Keys runs a command on keys.
func (m *Main) Keys(ctx context.Context, args []string) error {
	commands := map[string]struct {
		words int
		run   func(context.Context, keysFlags) error
	}{
		"new": {0, m.newKey}, "current": {0, m.currentKey}, "register": {0, m.registerKey},
		"list": {0, m.listKeys}, "rotate": {0, m.rotateKey}, "retire": {1, m.endKey((*keyring.Keyring).Retire)},
		"revoke": {1, m.endKey((*keyring.Keyring).Revoke)},
	}
	name := ""
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		name, args = args[0], args[1:]
	}
	var f keysFlags
	fs := f.set(m.Stderr)
	command, known := commands[name]
	if err := m.parse(fs, args, command.words); err != nil {
		return err
	}
	if !known {
		return m.wrong("keys: say which: new, current, register, list, rotate, retire or revoke")
	}
	if f.kid = fs.Arg(0); f.kid == "" && command.words == 1 {
		return m.wrong("keys %s: say which key", name)
	}
	if alg := engine.Alg(f.alg); !alg.Known() {
		return m.wrong("--alg is ECDH-ES+A256KW or RSA-OAEP-256")
	}
	return command.run(ctx, f)
}

func (f *keysFlags) set(out io.Writer) *flag.FlagSet {
	fs := flag.NewFlagSet("keys", flag.ContinueOnError)
	fs.SetOutput(out)
	fs.StringVar(&f.alg, "alg", string(engine.ECDHESA256KW), "the `algorithm` of the key")
	fs.StringVar(&f.out, "out", "", "new: the `file` to make")
	fs.StringVar(&f.private, "private", "", "register: the `file` that new made")
	fs.StringVar(&f.v1, "v1", "http://127.0.0.1:8082", "current, register: base `URL` of the service")
	fs.StringVar(&f.apiKeyEnv, "api-key-env", "", "current, register: environment `variable` with the API key")
	fs.StringVar(&f.merchant, "merchant", "", "list, rotate: whose keys, a `merchant` and its mode")
	fs.StringVar(&f.config, "config", "", "list, rotate, retire, revoke: the filter's configuration `file`")
	fs.StringVar(&f.keys, "keys", "", "list, rotate, retire, revoke: where keys are kept, as for the filter: a `file` or URL")
	help(fs, keysUsage)
	return fs
}

// ring runs fn on the keys of a filter.
func (m *Main) ring(ctx context.Context, f keysFlags, fn func(*keyring.Keyring) error) (err error) {
	c := defaults()
	if f.config != "" {
		if err := config.Load(f.config, &c); err != nil {
			return fmt.Errorf("config: %w", err)
		}
	}
	if f.keys != "" {
		c.Keys = f.keys
	}
	text, err := resolve(c.KEK, kekVariable)
	if err != nil {
		return err
	}
	kek, err := base64.StdEncoding.DecodeString(text.Reveal())
	if err != nil {
		return fmt.Errorf("%s is not base64", kekVariable)
	}
	db, err := keystore.Open(ctx, keystore.Config{Source: c.Keys, PostgreSQL: postgres.Open})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ring, err := keyring.Open(ctx, keyring.Config{
		Store: db, KEK: kek, RSABits: c.RSABits, Spares: c.SpareKeys,
		Schedule: mlefilter.Schedule{RotateEvery: c.Rotation.Every, PublishAhead: c.Rotation.PublishAhead, KeepPrevious: c.Rotation.KeepPrevious},
	})
	if err != nil {
		return err
	}
	return fn(ring)
}

func (m *Main) listKeys(ctx context.Context, f keysFlags) error {
	return m.ring(ctx, f, func(ring *keyring.Keyring) error {
		keys, err := ring.List(ctx, f.merchant)
		if err != nil {
			return err
		}
		table := tabwriter.NewWriter(m.Stdout, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(table, "MERCHANT\tKID\tALG\tSTATE\tSINCE\tUNTIL")
		for _, k := range keys {
			const day = "2006-01-02"
			_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", k.Tenant, k.Kid, k.Alg, k.State, k.NotBefore.Format(day), k.ExpiresAt.Format(day))
		}
		return table.Flush()
	})
}

func (m *Main) rotateKey(ctx context.Context, f keysFlags) error {
	if f.merchant == "" {
		return m.wrong("keys rotate: --merchant is required")
	}
	return m.ring(ctx, f, func(ring *keyring.Keyring) error {
		if f.alg == string(engine.RSAOAEP256) {
			if err := ring.Fill(ctx); err != nil { // a filter makes them ahead; here somebody waits
				return err
			}
		}
		_, err := ring.Rotate(ctx, keyring.Rotate{Tenant: f.merchant, Alg: engine.Alg(f.alg)}, func(r keyring.Rotated) keyring.Answer {
			m.showRotated(r)
			return keyring.Answer{}
		})
		return err
	})
}

func (m *Main) showRotated(r keyring.Rotated) {
	_, _ = fmt.Fprintf(m.Stdout, "current  %s\n", r.Current.Kid)
	if r.Previous != nil {
		_, _ = fmt.Fprintf(m.Stdout, "previous %s until %s\n", r.Previous.Kid, r.Previous.ExpiresAt.Format("2006-01-02 15:04:05Z07:00"))
	}
}

func (m *Main) endKey(how func(*keyring.Keyring, context.Context, string) (keyring.Rotated, error)) func(context.Context, keysFlags) error {
	return func(ctx context.Context, f keysFlags) error {
		return m.ring(ctx, f, func(ring *keyring.Keyring) error {
			_, err := how(ring, ctx, f.kid)
			if err == nil {
				_, _ = fmt.Fprintf(m.Stdout, "ended %s\n", f.kid)
			}
			return err
		})
	}
}

// writeNew makes a file that only its owner reads, and never one in place of another.
func writeNew(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}
