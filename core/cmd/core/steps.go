package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// steps lists, shows and resolves steps without an outcome.
func (m *Main) steps(ctx context.Context, args []string) error {
	f, at := m.flags("steps")
	merchant := f.String("merchant", "", "")
	kind := f.String("kind", "", "")
	limit := f.Int("limit", 50, "")
	outcome := f.String("outcome", "", "")
	reason := f.String("reason", "", "")
	acquirerID := f.String("acquirer-id", "", "")
	asOf := f.String("as-of", "", "")
	words, err := m.words(f, args)
	if err != nil {
		return err
	}
	switch {
	case len(words) == 1 && words[0] == "list":
		if *limit < 1 || *limit > 10_000 {
			return m.misused(fmt.Sprintf("--limit %d: want 1 to 10000", *limit))
		}
		if *kind != "" && !slices.Contains(payment.ListedKinds(), payment.StepKind(*kind)) {
			return m.misused(fmt.Sprintf("--kind %q: want authorize, void, capture, refund, credit or reversal", *kind))
		}
		return m.listSteps(ctx, at, *merchant, *kind, *limit)
	case len(words) == 2 && words[0] == "show":
		return m.list(ctx, at, func(a *admin.Admin, w io.Writer) error {
			s, err := a.Step(ctx, words[1])
			if err != nil {
				return err
			}
			return printStep(w, &s)
		})
	case len(words) == 2 && words[0] == "resolve":
		if *outcome == "" || *reason == "" {
			return m.misused("steps resolve: --outcome and --reason are required")
		}
		in := operator.StepResolve{Outcome: *outcome, Reason: *reason, AcquirerID: *acquirerID}
		if *asOf != "" {
			read, err := time.Parse(time.RFC3339, *asOf)
			if err != nil {
				return m.misused(fmt.Sprintf("--as-of %q: want a time such as 2026-11-22T14:05:00Z", *asOf))
			}
			in.AsOf = &v1.Time{Time: read}
		}
		return m.administer(ctx, at, func(a *admin.Admin) (string, error) {
			s, err := a.ResolveStep(ctx, words[1], in)
			return fmt.Sprintf("%s %s: %s of %d %s, account %s", words[1], *outcome, s.Kind, s.Amount, s.Currency, orDash(s.Account)), err
		})
	}
	return m.misused("steps: want list, show STEP or resolve STEP")
}

func (m *Main) listSteps(ctx context.Context, at *storeFlags, merchant, kind string, limit int) error {
	return m.list(ctx, at, func(a *admin.Admin, w io.Writer) error {
		found, err := a.Steps(ctx, merchant, kind, limit)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, "step\treference\tkind\tmerchant\tmode\taccount\tamount\tsince\tattempts\tnext\tlast error"); err != nil {
			return err
		}
		for _, s := range found {
			_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d %s\t%s\t%d\t%s\t%q\n", s.ID, s.Reference, s.Kind, s.Merchant, s.Mode, orDash(s.Account), s.Amount, s.Currency,
				s.Since.Format(time.RFC3339), s.Attempts, nextAttempt(&s), s.LastError)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func nextAttempt(s *operator.UnfinishedStep) string {
	switch {
	case s.WaitsForOperator:
		return "operator"
	case s.Running:
		return "running"
	case s.NextAttemptAt == nil:
		return "soon"
	}
	return s.NextAttemptAt.Format(time.RFC3339)
}

func printStep(w io.Writer, s *operator.UnfinishedStep) error {
	for _, line := range [][2]string{
		{"step", s.ID},
		{"reference", s.Reference},
		{"kind", s.Kind},
		{"merchant", s.Merchant},
		{"mode", string(s.Mode)},
		{"transaction", orDash(s.Transaction)},
		{"account", orDash(s.Account)},
		{"amount", fmt.Sprintf("%d %s", s.Amount, s.Currency)},
		{"held", fmt.Sprintf("%d %s", s.Held, s.Currency)},
		{"since", s.Since.Format(time.RFC3339)},
		{"attempts", fmt.Sprint(s.Attempts)},
		{"refused", fmt.Sprint(s.Refused)},
		{"next attempt", nextAttempt(s)},
		{"last error", orDash(s.LastError)},
		{"api key", orDash(s.APIKey)},
		{"client address", orDash(s.ClientAddress)},
	} {
		if _, err := fmt.Fprintf(w, "%s\t%s\n", line[0], line[1]); err != nil {
			return err
		}
	}
	return nil
}
