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
	words, err := m.parse(f, verbLast(args, "rotate", "rewrap"), 1)
	if err != nil {
		return err
	}
	if words[0] != "rotate" && (words[0] != "rewrap" || *drop) {
		return m.misused(fmt.Sprintf("vault cannot %q like that", words[0]))
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
	if words[0] == "rotate" {
		return a.RotateVault(ctx, *drop, m.Stderr)
	}
	old, err := core.OldVaultKEK(os.Getenv)
	if err != nil {
		return err
	}
	return a.RewrapVault(ctx, old)
}
