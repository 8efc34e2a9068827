package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// Exec implements store.Session.
func (w *writer) Exec(s *store.Statement, args ...any) (int64, error) {
	r, err := w.change(s, args...)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("rows affected: %w", err)
	}
	return n, nil
}

// ExecEach implements store.Session.
func (w *writer) ExecEach(s *store.Statement, args [][]any) ([]int64, error) {
	counts := make([]int64, len(args))
	for i, a := range args {
		var err error
		if counts[i], err = w.Exec(s, a...); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// Overwrite implements store.Session.
func (w *writer) Overwrite(s *store.Statement, args ...any) error {
	_, err := w.change(s, args...)
	return err
}

// Insert implements store.Session.
func (w *writer) Insert(s *store.Statement, args ...any) error {
	_, err := w.change(s, args...)
	if errors.Is(err, store.ErrDuplicate) {
		return store.ErrDuplicate
	}
	return err
}

// InsertNumbered implements store.Session.
func (w *writer) InsertNumbered(s *store.Statement, args ...any) (int64, error) {
	r, err := w.change(s, args...)
	if err != nil {
		return 0, err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return 0, err
	}
	return r.LastInsertId()
}

// Row implements store.Session.
func (w *writer) Row(s *store.Statement, args ...any) (store.Scanner, error) {
	prepared, err := w.prepared(s)
	if err != nil {
		return nil, err
	}
	return prepared.row(context.Background(), args...), nil
}

// Each implements store.Session.
func (w *writer) Each(s *store.Statement, scan func(store.Scanner) error, args ...any) error {
	prepared, err := w.prepared(s)
	if err != nil {
		return err
	}
	return prepared.each(context.Background(), scan, args...)
}

// Savepoint implements store.Session.
func (w *writer) Savepoint(fn func() error) error {
	if err := w.exec("SAVEPOINT part"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	return w.leave("part", fn())
}

// LockRow implements store.Session. It does nothing: no other command runs.
func (w *writer) LockRow(*store.Statement, ...any) error { return nil }

// Lock implements store.Session. It does nothing: no other command runs.
func (w *writer) Lock(string, bool) error { return nil }

// Exclude implements store.Session. It does nothing: no other command runs.
func (w *writer) Exclude(string) error { return nil }

// Empty implements store.Session. The table is in codes.db, in which SQLite overwrites all deleted
// bytes.
func (w *writer) Empty(table string) error {
	return w.exec("DELETE FROM " + table)
}
