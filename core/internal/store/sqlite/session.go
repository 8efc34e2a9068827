package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/store"
)

// Dialect implements store.Session.
func (w *writer) Dialect() store.Dialect { return store.Dialect{Overwrites: true} }

// Exec implements store.Session.
func (w *writer) Exec(text string, args ...any) (int64, error) {
	r, err := w.result(text, args...)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("rows affected: %w", err)
	}
	return n, nil
}

// Insert implements store.Session.
func (w *writer) Insert(text string, args ...any) error {
	err := w.exec(text, args...)
	if errors.Is(err, store.ErrDuplicate) {
		return store.ErrDuplicate
	}
	return err
}

// InsertNumbered implements store.Session.
func (w *writer) InsertNumbered(text string, args ...any) (int64, error) {
	r, err := w.result(text, args...)
	if err != nil {
		return 0, err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return 0, err
	}
	return r.LastInsertId()
}

// Row implements store.Session.
func (w *writer) Row(text string, args ...any) (store.Scanner, error) {
	s, err := w.stmt(text)
	if err != nil {
		return nil, err
	}
	return s.Row(context.Background(), args...), nil
}

// Each implements store.Session.
func (w *writer) Each(text string, scan func(store.Scanner) error, args ...any) error {
	s, err := w.stmt(text)
	if err != nil {
		return err
	}
	return s.Each(context.Background(), scan, args...)
}

// Whole implements store.Session.
func (w *writer) Whole(fn func() error) error {
	if err := w.exec("SAVEPOINT part"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	return w.leave("part", fn())
}

// Lock implements store.Session: no other command runs.
func (w *writer) Lock(string, bool) error { return nil }

// Exclude implements store.Session: no other command runs.
func (w *writer) Exclude(string) error { return nil }

// Empty implements store.Session. The table is in the codes' file, in which SQLite overwrites all
// deleted bytes.
func (w *writer) Empty(table string) error {
	_, err := w.Exec("DELETE FROM " + table)
	return err
}
