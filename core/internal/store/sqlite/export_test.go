package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/clock"
)

// MaxQueue is the bound of the queue.
const MaxQueue = maxQueue

// Engine is the engine of a store.
type Engine struct{ *engine }

// OpenOn is Open for a file on a VFS of SQLite, "" for that of the system.
func OpenOn(ctx context.Context, path, vfs string, c clock.Clock) (*store.DB, *Engine, error) {
	db, e, err := open(ctx, path, vfs, c)
	return db, &Engine{e}, err
}

// Closing reports whether the store accepts no more commands.
func (e *Engine) Closing() bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.closed
}

// Exec runs any statements on the writer, outside of commands.
func (e *Engine) Exec(texts ...string) error {
	w := <-e.lead
	defer func() { e.lead <- w }()
	for _, text := range texts {
		if err := w.exec(text); err != nil {
			return err
		}
	}
	return nil
}

// Plan returns SQLite's plan for the list that fn reads, one line for each step.
func (e *Engine) Plan(ctx context.Context, fn func() error) (string, error) {
	var errs []error
	e.stmts.Range(func(text, s any) bool {
		errs = append(errs, s.(statement).prepared.Close())
		e.stmts.Delete(text)
		return true
	})
	var lists []string
	errs = append(errs, fn())
	e.stmts.Range(func(text, _ any) bool {
		if strings.Contains(text.(string), " ORDER BY ") {
			lists = append(lists, text.(string))
		}
		return true
	})
	if err := errors.Join(errs...); err != nil || len(lists) != 1 {
		return "", fmt.Errorf("%d lists: %w", len(lists), err)
	}
	s, err := e.Prepare(ctx, "EXPLAIN QUERY PLAN "+lists[0])
	if err != nil {
		return "", err
	}
	var steps []string
	err = s.Each(ctx, func(row store.Scanner) error {
		var id, parent, unused int
		var step string
		err := row.Scan(&id, &parent, &unused, &step)
		steps = append(steps, step)
		return err
	}, make([]any, parameters(lists[0]))...)
	return strings.Join(steps, "\n"), err
}

// parameters returns how many values a statement takes, whose parameters are ?, ?N or both.
func parameters(text string) int {
	most := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '?' {
			continue
		}
		n := 0
		for ; i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9'; i++ {
			n = n*10 + int(text[i+1]-'0')
		}
		if n == 0 {
			n = most + 1
		}
		most = max(most, n)
	}
	return most
}
