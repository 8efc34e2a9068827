package main

import (
	"context"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/admin"
)

func (m *Main) backup(ctx context.Context, args []string) error {
	f, at := m.flags("backup")
	to := f.String("to", "", "")
	if _, err := m.parse(f, args, 0); err != nil {
		return err
	}
	if *to == "" {
		return m.misused("backup: --to is required: the folder to create")
	}
	cfg, err := at.folder()
	if err != nil {
		return err
	}
	if err := admin.Backup(ctx, cfg, *to); err != nil {
		return err
	}
	_, err = fmt.Fprintln(m.Stdout, *to)
	return err
}

func (m *Main) restore(ctx context.Context, args []string) error {
	f, at := m.flags("restore")
	from := f.String("from", "", "")
	if _, err := m.parse(f, args, 0); err != nil {
		return err
	}
	if *from == "" {
		return m.misused("restore: --from is required: the folder of the backup")
	}
	cfg, err := at.folder()
	if err != nil {
		return err
	}
	if err := admin.Restore(ctx, cfg, *from); err != nil {
		return err
	}
	_, err = fmt.Fprintln(m.Stdout, cfg.Data)
	return err
}
