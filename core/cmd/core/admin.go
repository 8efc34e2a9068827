package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/datadir"
)

func (m *Main) merchants(ctx context.Context, args []string) error {
	f, at := m.flags("merchants")
	change := changeFlags(f)
	words, err := m.words(f, args)
	if err != nil {
		return err
	}
	c, err := change()
	if err != nil {
		return m.misused(err.Error())
	}
	verb := strings.Join(words[:min(len(words), 1)], "")
	switch {
	case verb == "list" && len(words) == 1 && c.Same():
		return m.listMerchants(ctx, at)
	case verb == "create" && len(words) == 2 && c.Name == "":
		c.Name = words[1]
		return m.administerBy(ctx, admin.Create, at, func(a *admin.Admin) (string, error) { return a.CreateMerchantWith(ctx, c) })
	case verb == "update" && len(words) == 2:
		if c.Same() {
			return m.misused("merchants update needs --name, --time-zone, --cutoff, --unlinked-refunds, --keep-personal-data or --keep-customers")
		}
		return m.administer(ctx, at, func(a *admin.Admin) (string, error) { return words[1], a.UpdateMerchant(ctx, words[1], c) })
	case (verb == "disable" || verb == "enable") && len(words) == 2 && c.Same():
		return m.administer(ctx, at, func(a *admin.Admin) (string, error) {
			return words[1], a.DisableMerchant(ctx, words[1], verb == "disable")
		})
	}
	return m.misused("merchants takes create NAME, list, update mer_…, disable mer_… or enable mer_…")
}

// verbLast moves the first verb behind the flags, because package flag stops at the first argument.
// So both `vault rotate --drop-old` and `vault --drop-old rotate` work.
func verbLast(args []string, verbs ...string) []string {
	for i, a := range args {
		if slices.Contains(verbs, a) {
			return append(append(append([]string{}, args[:i]...), args[i+1:]...), a)
		}
	}
	return args
}

// opener opens the store: admin.Open, or admin.Create for a command that may be the first.
type opener func(context.Context, datadir.Config) (*admin.Admin, error)

// administer runs fn on the existing store, and prints its result.
func (m *Main) administer(ctx context.Context, at *place, fn func(*admin.Admin) (string, error)) error {
	return m.administerBy(ctx, admin.Open, at, fn)
}

func (m *Main) administerBy(ctx context.Context, open opener, at *place, fn func(*admin.Admin) (string, error)) (err error) {
	cfg, err := at.config()
	if err != nil {
		return err
	}
	a, err := open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	out, err := fn(a)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(m.Stdout, out)
	return err
}

func (m *Main) listMerchants(ctx context.Context, at *place) error {
	return m.look(ctx, at, func(a *admin.Admin, w io.Writer) error {
		found, err := a.ListMerchants(ctx)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(w, "id\tcreated\tstatus\tday ends\ttime zone\tunlinked refunds\tkeep personal data\tkeep customers\tname"); err != nil {
			return err
		}
		for _, one := range found {
			status := "enabled"
			if one.Disabled {
				status = "disabled"
			}
			_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%q\n", one.ID, one.CreatedAt.Format(time.RFC3339), status, one.Cutoff, one.TimeZone,
				onOff(one.UnlinkedRefunds), orService(one.KeepPersonal), orService(one.KeepCustomers), one.Name)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// orService formats a merchant's period in days, or "-" for the service's period.
func orService(days int) string {
	if days == 0 {
		return "-"
	}
	return fmt.Sprintf("%dd", days)
}

// look runs fn on the opened store, with a writer that aligns tab-separated columns.
func (m *Main) look(ctx context.Context, at *place, fn func(*admin.Admin, io.Writer) error) (err error) {
	cfg, err := at.config()
	if err != nil {
		return err
	}
	a, err := admin.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	w := tabwriter.NewWriter(m.Stdout, 0, 8, 2, ' ', 0)
	return errors.Join(fn(a, w), w.Flush())
}
