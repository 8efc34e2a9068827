package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/datadir"
)

// inventory prints the secrets and keys of core without their values, as a table or JSON.
func (m *Main) inventory(ctx context.Context, at *storeFlags, asJSON bool) error {
	return m.list(ctx, at, func(a *admin.Admin, w io.Writer) error {
		all, err := a.Inventory(ctx, os.Getenv)
		if err != nil {
			return err
		}
		if asJSON {
			return json.MarshalWrite(w, all, jsontext.WithIndent("  "))
		}
		if _, err := fmt.Fprintln(w, "name\tcount\tversion\tage\tnext rotation\talgorithm\tuse\trotate by"); err != nil {
			return err
		}
		for _, s := range all {
			_, err := fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", s.Name, s.Count, version(s), age(s), next(s), s.Algorithm, s.Use, s.Rotate)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func version(s datadir.Secret) string {
	if s.Version == 0 {
		return "-"
	}
	return strconv.FormatInt(s.Version, 10)
}

func age(s datadir.Secret) string {
	if s.AgeDays == nil {
		return "unknown"
	}
	return fmt.Sprintf("%d days", *s.AgeDays)
}

func next(s datadir.Secret) string {
	switch {
	case s.Overdue:
		return "overdue since " + s.NextRotation.Format(time.DateOnly)
	case s.NextRotation != nil:
		return s.NextRotation.Format(time.DateOnly)
	}
	return "-"
}
