package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/datadir"
)

func (m *Main) vault(ctx context.Context, args []string) (err error) {
	f, at := m.flags("vault")
	drop := f.Bool("drop-old", false, "")
	words, err := m.parse(f, args, 1)
	if err != nil {
		return err
	}
	if words[0] != "rotate" && (words[0] != "rewrap" || *drop) {
		return m.misused(fmt.Sprintf("vault %s: want \"rotate [--drop-old]\" or \"rewrap\"", words[0]))
	}
	cfg, err := at.config()
	if err != nil {
		return err
	}
	if words[0] == "rewrap" {
		old, err := datadir.OldKEK(os.Getenv)
		if err != nil {
			return err
		}
		return admin.RewrapVault(ctx, cfg, old)
	}
	a, err := admin.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return a.RotateVault(ctx, *drop, m.Stderr)
}
