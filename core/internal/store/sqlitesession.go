package store

import (
	"context"
	"fmt"
)

// Dialect implements Session.
func (w *writer) Dialect() Dialect { return Dialect{Overwrites: true} }

// Exec implements Session.
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

// Insert implements Session.
func (w *writer) Insert(text string, args ...any) error {
	err := w.exec(text, args...)
	if isDuplicate(err) {
		return ErrDuplicate
	}
	return err
}

// InsertNumbered implements Session.
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

// Row implements Session.
func (w *writer) Row(text string, args ...any) (Scanner, error) {
	s, err := w.stmt(text)
	if err != nil {
		return nil, err
	}
	return s.Row(context.Background(), args...), nil
}

// Each implements Session.
func (w *writer) Each(text string, scan func(Scanner) error, args ...any) error {
	s, err := w.stmt(text)
	if err != nil {
		return err
	}
	return s.Each(context.Background(), scan, args...)
}

// Whole implements Session.
func (w *writer) Whole(fn func() error) error {
	if err := w.exec("SAVEPOINT part"); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	return w.leave("part", fn())
}

// Lock implements Session: no other command runs.
func (w *writer) Lock(string, bool) error { return nil }

// Exclude implements Session: no other command runs.
func (w *writer) Exclude(string) error { return nil }

// Empty implements Session. The table is one of the codes' file, which always overwrites deleted
// bytes.
func (w *writer) Empty(table string) error {
	_, err := w.Exec("DELETE FROM " + table)
	return err
}
