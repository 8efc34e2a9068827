package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/admin"
)

func (m *Main) secrets(ctx context.Context, args []string) (err error) {
	f, at := m.flags("secrets")
	words, err := m.parse(f, args, 1)
	if err != nil {
		return err
	}
	change := map[string]func(*admin.Admin) error{
		"rotate":   func(a *admin.Admin) error { return a.RotateRoot(ctx, m.Stderr) },
		"drop-old": func(a *admin.Admin) error { return a.DropOldRoots(ctx, m.Stderr) },
	}[words[0]]
	if change == nil {
		return m.misused(fmt.Sprintf("secrets %s: want \"rotate\" or \"drop-old\"", words[0]))
	}
	cfg, err := at.config()
	if err != nil {
		return err
	}
	a, err := admin.Open(ctx, cfg)
	if err != nil {
		return err
	}
	return errors.Join(change(a), a.Close())
}
