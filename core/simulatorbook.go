package core

import (
	"context"
	"errors"

	"github.com/causeway-pay/causeway/core/internal/acquirer/simulator"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// simulatorBook has the simulators of all cores remember together, in the database, so that they are one acquirer.
type simulatorBook struct{ db *store.DB }

// Read implements simulator.Book.
func (b simulatorBook) Read(ctx context.Context, key string) (simulator.Entry, error) {
	r, err := b.db.Simulated(ctx, key)
	return simulator.Entry(r), err
}

// First implements simulator.Book.
func (b simulatorBook) First(ctx context.Context, e simulator.Entry) (bool, error) {
	return b.db.FirstSimulated(ctx, store.Simulated(e))
}

// Change implements simulator.Book.
func (b simulatorBook) Change(ctx context.Context, changes ...simulator.Change) (bool, error) {
	err := b.db.Update(ctx, func(tx *store.Tx) error {
		for _, c := range changes {
			if err := tx.PutSimulated(store.Simulated(c.Was), store.Simulated(c.Now)); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, store.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}
