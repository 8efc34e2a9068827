package main

import (
	"context"
	"fmt"

	"github.com/causeway-pay/causeway/core"
)

func (m *Main) backup(ctx context.Context, args []string) error {
	f, data := m.flags("backup")
	to := f.String("to", "", "the folder to make")
	if _, err := m.parse(f, args, 0); err != nil {
		return err
	}
	if *to == "" {
		return m.misused("backup wants --to, the folder to make")
	}
	if err := core.Backup(ctx, core.Config{Data: *data}, *to); err != nil {
		return err
	}
	_, err := fmt.Fprintln(m.Stdout, *to)
	return err
}

func (m *Main) restore(ctx context.Context, args []string) error {
	f, data := m.flags("restore")
	from := f.String("from", "", "the backup's folder")
	if _, err := m.parse(f, args, 0); err != nil {
		return err
	}
	if *from == "" {
		return m.misused("restore wants --from, the backup's folder")
	}
	if err := core.Restore(ctx, core.Config{Data: *data}, *from); err != nil {
		return err
	}
	_, err := fmt.Fprintln(m.Stdout, *data)
	return err
}
