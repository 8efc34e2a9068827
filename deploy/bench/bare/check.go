package bare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
)

// Check proves that the loop writes the rows of the server. It writes the learned payment by Group
// and by Single into new files under dir, and compares all rows of all tables. A difference is an
// error that wraps ErrChanged.
func Check(ctx context.Context, dir string, t *Template) (err error) {
	if dir, err = os.MkdirTemp(dir, "check-"); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for name, write := range map[string]func(*Loop) error{
		"group": func(l *Loop) error { return l.Group(1) }, "single": (*Loop).Single,
	} {
		if err := checkOne(ctx, filepath.Join(dir, name+".db"), t, write); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func checkOne(ctx context.Context, path string, t *Template, write func(*Loop) error) (err error) {
	l, err := Open(ctx, path, t)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	empty, err := Look(ctx, path)
	if err != nil {
		return err
	}
	if err := write(l); err != nil {
		return err
	}
	ours, err := Learn(ctx, path, empty)
	if err != nil {
		return err
	}
	return t.differs(ours)
}

// differs compares the rows of both, except for the numbers of the idempotency keys.
func (t *Template) differs(ours *Template) error {
	if len(t.rows) != len(ours.rows) {
		return fmt.Errorf("%w: %d tables against %d", ErrChanged, len(t.rows), len(ours.rows))
	}
	for table, rows := range t.rows {
		if len(rows) != len(ours.rows[table]) {
			return fmt.Errorf("%w: %d rows in %s against %d", ErrChanged, len(rows), table, len(ours.rows[table]))
		}
		for i, row := range rows {
			for column, want := range row {
				if table == "idempotency_keys" && column == "id" {
					continue
				}
				if got := ours.rows[table][i][column]; !reflect.DeepEqual(got, want) {
					return fmt.Errorf("%w: %s.%s is %v there and %v here", ErrChanged, table, column, want, got)
				}
			}
		}
	}
	return nil
}
