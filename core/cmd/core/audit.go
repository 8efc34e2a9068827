package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/admin"
)

// audit lists, checks and exports the record of operators' actions.
func (m *Main) audit(ctx context.Context, args []string) error {
	f, at := m.flags("audit")
	limit := f.Int("limit", 50, "")
	head := f.String("head", "", "")
	words, err := m.words(f, args)
	if err != nil {
		return err
	}
	switch strings.Join(words, " ") {
	case "list":
		if *limit < 1 || *limit > 10_000 {
			return m.misused(fmt.Sprintf("--limit %d: want 1 to 10000", *limit))
		}
		return m.listAudit(ctx, at, *limit)
	case "verify":
		return m.administer(ctx, at, func(a *admin.Admin) (string, error) { return a.VerifyAudit(ctx, *head) })
	case "export":
		return m.exportAudit(ctx, at)
	}
	return m.misused("audit: want list, verify or export")
}

func (m *Main) listAudit(ctx context.Context, at *storeFlags, limit int) error {
	return m.list(ctx, at, func(a *admin.Admin, w io.Writer) error {
		found, err := a.AuditRecords(ctx, 0, limit)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, "sequence\tat\tactor\taddress\taction\tobject\toutcome"); err != nil {
			return err
		}
		for _, r := range found {
			_, err := fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Sequence, r.At.Format(time.RFC3339), r.Actor, orDash(r.ClientAddress),
				r.Action, orDash(r.ObjectID), r.Outcome)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (m *Main) exportAudit(ctx context.Context, at *storeFlags) (err error) {
	cfg, err := at.config()
	if err != nil {
		return err
	}
	a, err := admin.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	w := bufio.NewWriter(m.Stdout)
	return errors.Join(a.ExportAudit(ctx, w), w.Flush())
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
