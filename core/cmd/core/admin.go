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

	"github.com/causeway-pay/causeway/core"
)

func (m *Main) merchants(ctx context.Context, args []string) error {
	if last := len(args) - 1; last >= 0 && args[last] == "list" && !slices.Contains(args, "create") {
		return m.listMerchants(ctx, args[:last])
	}
	f, data := m.flags("merchants")
	day, unlinked := dayFlags(f), unlinkedFlag(f)
	words, err := m.parse(f, flagsFirst(args), 2)
	if err != nil {
		return err
	}
	d, err := day()
	if err != nil {
		return m.misused(err.Error())
	}
	allow, err := unlinked()
	if err != nil {
		return m.misused(err.Error())
	}
	verb, what := words[0], words[1]
	if verb != "create" && verb != "update" {
		return m.misused(fmt.Sprintf("merchants cannot %q", verb))
	}
	same := d == core.Day{Cutoff: core.SameCutoff} && allow == nil
	if verb == "update" && same {
		return m.misused("merchants update needs --time-zone, --cutoff or --unlinked-refunds")
	}
	return m.administer(ctx, *data, func(a *core.Admin) (string, error) {
		if verb == "update" {
			return what, changeMerchant(ctx, a, what, d, allow)
		}
		merchant, err := a.CreateMerchant(ctx, what)
		if err != nil || same {
			return merchant, err
		}
		return merchant, changeMerchant(ctx, a, merchant, d, allow)
	})
}

// verbLast moves the first of the verbs behind the flags, where package flag wants it, so that both `vault rotate --drop-old` and
// `vault --drop-old rotate` work.
func verbLast(args []string, verbs ...string) []string {
	for i, a := range args {
		if slices.Contains(verbs, a) {
			return append(append(append([]string{}, args[:i]...), args[i+1:]...), a)
		}
	}
	return args
}

// flagsFirst moves the flags, each of which has a value, in front of the words, where package flag wants them.
func flagsFirst(args []string) []string {
	var flags, words []string
	for i := 0; i < len(args); i++ {
		if !strings.HasPrefix(args[i], "-") {
			words = append(words, args[i])
			continue
		}
		flags = append(flags, args[i])
		if !strings.Contains(args[i], "=") && i+1 < len(args) {
			i++
			flags = append(flags, args[i])
		}
	}
	return append(flags, words...)
}

// administer runs fn on the opened store and prints its result.
func (m *Main) administer(ctx context.Context, data string, fn func(*core.Admin) (string, error)) (err error) {
	a, err := core.OpenAdmin(ctx, core.Config{Data: data})
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

func (m *Main) listMerchants(ctx context.Context, args []string) error {
	f, data := m.flags("merchants")
	if _, err := m.parse(f, args, 0); err != nil {
		return err
	}
	return m.look(ctx, *data, func(a *core.Admin, w io.Writer) error {
		found, err := a.ListMerchants(ctx)
		if err != nil {
			return err
		}
		for _, one := range found {
			if _, err := fmt.Fprintf(w, "%s\t%s\t%q\n", one.ID, one.CreatedAt.Format(time.RFC3339), one.Name); err != nil {
				return err
			}
		}
		return nil
	})
}

// look runs fn on the opened store with a writer that aligns what tabs separate.
func (m *Main) look(ctx context.Context, data string, fn func(*core.Admin, io.Writer) error) (err error) {
	a, err := core.OpenAdmin(ctx, core.Config{Data: data})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	w := tabwriter.NewWriter(m.Stdout, 0, 8, 2, ' ', 0)
	return errors.Join(fn(a, w), w.Flush())
}
