package postgres

import (
	"context"
	"errors"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres/move"
	"github.com/causeway-pay/causeway/shared/secret"
)

// MoveTarget is core.Migration's, on the server that a URL names. The zero URL is good for one thing only: to free by force the folder whose
// database is lost.
func MoveTarget(url secret.String) core.MoveTarget { return moveTarget{url} }

type moveTarget struct{ url secret.String }

var errNoURL = errors.New("a move needs the URL of the database that is moved to")

// Open implements core.MoveTarget.
func (t moveTarget) Open(ctx context.Context, c store.MoveConfig) (store.Move, error) {
	if t.url.IsZero() {
		return nil, errNoURL
	}
	m, err := move.Open(ctx, move.Config{MoveConfig: c, Target: t.url})
	if err != nil {
		return nil, err // and not an interface that holds nil
	}
	return m, nil
}

// Undo implements core.MoveTarget.
func (t moveTarget) Undo(ctx context.Context, c store.MoveConfig, force bool) error {
	switch {
	case !t.url.IsZero():
		return move.Undo(ctx, move.Config{MoveConfig: c, Target: t.url}, force)
	case force:
		return move.UndoSource(ctx, c.Source)
	}
	return errNoURL
}
