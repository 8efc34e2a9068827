package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/postgres"
	"github.com/causeway-pay/causeway/shared/secret"
)

// migrateData moves the store of a data folder into PostgreSQL.
func (m *Main) migrateData(ctx context.Context, args []string) error {
	f, at := m.flags("migrate-data")
	to := f.String("to", "", "the URL of the PostgreSQL database")
	finish := f.Bool("finish", false, "move the rest, and change over")
	undo := f.Bool("undo", false, "take a move back")
	force := f.Bool("force", false, "take it back whatever was taken since")
	if _, err := m.parse(f, args, 0); err != nil {
		return err
	}
	if *finish && *undo || *force && !*undo {
		return m.misused("migrate-data takes --finish, or --undo and with it --force")
	}
	cfg, how := core.Config{Data: at.data}, core.Migration{Progress: m.Stderr}
	url, err := moveSecrets(secret.New(*to), at, &cfg, &how)
	if err != nil {
		return err
	}
	how.To = postgres.MoveTarget(url)
	if url.IsZero() && !*force {
		return m.misused("migrate-data wants --to, the URL of the PostgreSQL database, or CAUSEWAY_STORE")
	}
	switch {
	case *undo:
		return m.undoMove(ctx, cfg, how, *force)
	case *finish:
		err = m.finishMove(ctx, cfg, how)
	default:
		err = m.copyMove(ctx, cfg, how)
	}
	if errors.Is(err, core.ErrMovedAlready) { // as it was, by one that was killed before it could say so
		_, err = fmt.Fprintln(m.Stdout, core.ErrMovedAlready)
	}
	return err
}

func (m *Main) copyMove(ctx context.Context, cfg core.Config, how core.Migration) error {
	if err := core.CopyData(ctx, cfg, how); err != nil {
		return err
	}
	_, err := fmt.Fprintln(m.Stdout, "copied, all but what has changed meanwhile. Stop the service, then: core migrate-data --finish")
	return err
}

// moveSecrets reads what the environment says, and the URL there when the command line gives none.
func moveSecrets(url secret.String, at *place, cfg *core.Config, how *core.Migration) (_ secret.String, err error) {
	if url.IsZero() {
		if url, err = at.url(); err != nil {
			return url, err
		}
	}
	if cfg.VaultKEK, err = core.VaultKEK(os.Getenv); err != nil {
		return url, err
	}
	how.OldKEK, err = core.OldVaultKEK(os.Getenv)
	return url, err
}

func (m *Main) undoMove(ctx context.Context, cfg core.Config, how core.Migration, force bool) error {
	if err := core.UndoMove(ctx, cfg, how, force); err != nil {
		return err
	}
	_, err := fmt.Fprintln(m.Stdout, "taken back: the store in "+cfg.Data+" is the one to serve")
	return err
}

func (m *Main) finishMove(ctx context.Context, cfg core.Config, how core.Migration) error {
	moved, err := core.FinishData(ctx, cfg, how)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(m.Stdout, 0, 8, 2, ' ', 0)
	_, err = fmt.Fprintln(w, "table\trows\thash, the same on both sides")
	var rows int64
	for _, t := range moved.Tables {
		_, wrote := fmt.Fprintf(w, "%s\t%d\t%s\n", t.Name, t.Rows, t.Hash)
		err, rows = errors.Join(err, wrote), rows+t.Rows
	}
	_, wrote := fmt.Fprintf(w, "moved to %s: %d rows, closed for %s\n", moved.Place, rows, moved.Closed.Round(time.Millisecond))
	return errors.Join(err, wrote, w.Flush())
}
