package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/admin"
)

// personalData shows personal data whose period has ended.
func (m *Main) personalData(ctx context.Context, args []string) error {
	f, at := m.flags("personal-data")
	payments := f.Int("keep-personal-data", 0, "")
	customers := f.Int("keep-customers", 0, "")
	words, err := m.words(f, args)
	if err != nil {
		return err
	}
	if len(words) != 1 || words[0] != "due" {
		return m.misused("personal-data: want due")
	}
	keptPayments, err := keepDays("--keep-personal-data", *payments, core.LeastKeepPersonal)
	if err != nil {
		return m.misused(err.Error())
	}
	keptCustomers, err := keepDays("--keep-customers", *customers, core.LeastKeepPersonal)
	if err != nil {
		return m.misused(err.Error())
	}
	return m.list(ctx, at, func(a *admin.Admin, w io.Writer) error {
		found, err := a.PersonalDataDue(ctx, keptPayments, keptCustomers)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, "merchant\tmode\tkind\trows\toldest"); err != nil {
			return err
		}
		for _, d := range found {
			if _, err := fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", d.Merchant, d.Mode, d.Kind, d.Rows, d.Oldest.Format(time.RFC3339)); err != nil {
				return err
			}
		}
		return nil
	})
}
