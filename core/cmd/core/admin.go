package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/datadir"
)

// opener opens the store: admin.Open, or admin.Create for a command that may be the first.
type opener func(context.Context, datadir.Config) (*admin.Admin, error)

// administer runs fn on the existing store, and prints its result.
func (m *Main) administer(ctx context.Context, at *storeFlags, fn func(*admin.Admin) (string, error)) error {
	return m.administerBy(ctx, admin.Open, at, fn)
}

func (m *Main) administerBy(ctx context.Context, open opener, at *storeFlags, fn func(*admin.Admin) (string, error)) (err error) {
	cfg, err := at.config()
	if err != nil {
		return err
	}
	a, err := open(ctx, cfg)
	if err != nil {
		return err
	}
	if m.kinds != nil {
		a.WithKinds(m.kinds)
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	out, err := fn(a)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(m.Stdout, out)
	return err
}

// list runs fn on the opened store, with a writer that aligns tab-separated columns.
func (m *Main) list(ctx context.Context, at *storeFlags, fn func(*admin.Admin, io.Writer) error) (err error) {
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
