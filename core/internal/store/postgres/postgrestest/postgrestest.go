// Package postgrestest opens stores on PostgreSQL with the options that only tests set.
package postgrestest

import (
	"context"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/core/internal/store/postgres/internal/hook"
	"github.com/causeway-pay/causeway/shared/clock"
)

// Options are hook.Options.
type Options = hook.Options

// Open is postgres.Open with options.
func Open(ctx context.Context, source string, c clock.Clock, o Options) (*store.DB, error) {
	return postgres.Open(hook.With(ctx, o), source, c)
}
