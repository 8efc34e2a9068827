package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/admin"
)

// mle announces, withdraws and lists requirements of encryption.
func (m *Main) mle(ctx context.Context, args []string) error {
	f, at := m.flags("mle")
	from := f.String("from", "", "")
	words, err := m.words(f, args)
	if err != nil {
		return err
	}
	switch verb := strings.Join(words[:min(len(words), 1)], ""); {
	case verb == "announce" && len(words) > 1:
		date, err := dateOf(*from)
		if err != nil {
			return m.misused(err.Error())
		}
		return m.administer(ctx, at, func(a *admin.Admin) (string, error) {
			return a.AnnounceMLERequirement(ctx, words[1:], date)
		})
	case verb == "withdraw" && len(words) == 2 && *from == "":
		return m.administer(ctx, at, func(a *admin.Admin) (string, error) {
			return "withdrawn " + words[1], a.WithdrawMLERequirement(ctx, words[1])
		})
	case verb == "list" && len(words) == 1 && *from == "":
		return m.listMLERequirements(ctx, at)
	}
	return m.misused("mle: want announce ENDPOINT… --from DATE, withdraw mlr_… or list")
}

// dateOf parses a day, which begins at midnight UTC, or a time.
func dateOf(text string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if date, err := time.Parse(layout, text); err == nil {
			return date, nil
		}
	}
	return time.Time{}, fmt.Errorf("--from %q: want a day such as 2028-01-31, in UTC, or a time such as 2028-01-31T08:00:00Z", text)
}

func (m *Main) listMLERequirements(ctx context.Context, at *storeFlags) error {
	return m.list(ctx, at, func(a *admin.Admin, w io.Writer) error {
		found, err := a.ListMLERequirements(ctx)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, "id\tannounced\teffective\twithdrawn\tendpoints"); err != nil {
			return err
		}
		for _, r := range found {
			_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.ID, r.AnnouncedAt.Format(time.RFC3339), r.EffectiveAt.Format(time.RFC3339),
				moment(r.WithdrawnAt), strings.Join(r.Endpoints, ", "))
			if err != nil {
				return err
			}
		}
		return nil
	})
}
