package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/causeway-pay/causeway/core"
)

func (m *Main) merchants(ctx context.Context, args []string) error {
	f, data := m.flags("merchants")
	words, err := m.parse(f, args, 2)
	if err != nil {
		return err
	}
	if words[0] != "create" {
		return m.misused(fmt.Sprintf("merchants cannot %q", words[0]))
	}
	return m.administer(ctx, *data, func(a *core.Admin) (string, error) { return a.CreateMerchant(ctx, words[1]) })
}

func (m *Main) keys(ctx context.Context, args []string) error {
	f, data := m.flags("keys")
	var s core.KeySpec
	f.StringVar(&s.Merchant, "merchant", "", "merchant id")
	f.StringVar(&s.Mode, "mode", "test", "test or live")
	f.StringVar(&s.Kind, "kind", "secret", "secret or publishable")
	scopes := f.String("scopes", "", "scopes, separated by commas; all that the kind may have by default")
	words, err := m.parse(f, verbLast(args, "create"), 1)
	if err != nil {
		return err
	}
	if words[0] != "create" {
		return m.misused(fmt.Sprintf("keys cannot %q", words[0]))
	}
	if *scopes != "" {
		s.Scopes = strings.Split(*scopes, ",")
	}
	return m.administer(ctx, *data, func(a *core.Admin) (string, error) {
		key, err := a.CreateKey(ctx, s)
		return key.Reveal(), err
	})
}

// verbLast moves the verb behind the flags, where package flag wants it, so that both `keys create --mode live` and
// `keys --mode live create` work.
func verbLast(args []string, verb string) []string {
	for i, a := range args {
		if a == verb {
			return append(append(append([]string{}, args[:i]...), args[i+1:]...), a)
		}
	}
	return args
}

// administer runs fn on the opened store and prints its result.
func (m *Main) administer(ctx context.Context, data string, fn func(*core.Admin) (string, error)) (err error) {
	a, err := core.OpenAdmin(ctx, core.Config{Data: data})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	out, err := fn(a)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(m.Stdout, out)
	return err
}
