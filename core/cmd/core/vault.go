package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/causeway-pay/causeway/core"
)

func (m *Main) vault(ctx context.Context, args []string) (err error) {
	f, data := m.flags("vault")
	drop := f.Bool("drop-old", false, "remove the old keys once nothing is encrypted by them")
	words, err := m.parse(f, verbLast(args, "rotate"), 1)
	if err != nil {
		return err
	}
	if words[0] != "rotate" {
		return m.misused(fmt.Sprintf("vault cannot %q", words[0]))
	}
	kek, err := core.VaultKEK(os.Getenv)
	if err != nil {
		return err
	}
	a, err := core.OpenAdmin(ctx, core.Config{Data: *data, VaultKEK: kek})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return a.RotateVault(ctx, *drop, m.Stderr)
}
