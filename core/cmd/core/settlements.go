package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/operator"
)

// settlements lists and resolves settlement exceptions.
func (m *Main) settlements(ctx context.Context, args []string) error {
	f, at := m.flags("settlements")
	merchant := f.String("merchant", "", "")
	limit := f.Int("limit", 50, "")
	var in operator.SettlementResolve
	f.StringVar(&in.Outcome, "outcome", "", "")
	f.StringVar(&in.Reason, "reason", "", "")
	f.BoolVar(&in.DespiteFailedReport, "despite-failed-report", false, "")
	words, err := m.words(f, args)
	if err != nil {
		return err
	}
	switch {
	case len(words) == 1 && words[0] == "list":
		if *limit < 1 || *limit > 10_000 {
			return m.misused(fmt.Sprintf("--limit %d: want 1 to 10000", *limit))
		}
		return m.listExceptions(ctx, at, *merchant, *limit)
	case len(words) == 2 && words[0] == "resolve":
		if in.Outcome == "" || in.Reason == "" {
			return m.misused("settlements resolve: --outcome and --reason are required")
		}
		return m.administer(ctx, at, func(a *admin.Admin) (string, error) {
			x, err := a.ResolveException(ctx, words[1], in)
			return fmt.Sprintf("%s %s: %d %s, report: %s", words[1], in.Outcome, x.Amount, x.Currency, orDash(x.Report)), err
		})
	}
	return m.misused("settlements: want list or resolve cap_…")
}

func (m *Main) listExceptions(ctx context.Context, at *storeFlags, merchant string, limit int) error {
	return m.list(ctx, at, func(a *admin.Admin, w io.Writer) error {
		found, err := a.SettlementExceptions(ctx, merchant, limit)
		if err != nil {
			return err
		}
		const head = "capture\tkind\tmerchant\ttransaction\taccount\tacquirer id\tamount\tcaptured\tsince\treport"
		if _, err := fmt.Fprintln(w, head); err != nil {
			return err
		}
		for _, x := range found {
			_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d %s\t%s\t%s\t%s\n", x.ID, x.Kind, x.Merchant, x.Transaction,
				x.Account, orDash(x.AcquirerID), x.Amount, x.Currency, x.CapturedAt.Format(time.RFC3339),
				x.Since.Format(time.RFC3339), orDash(x.Report))
			if err != nil {
				return err
			}
		}
		return nil
	})
}
