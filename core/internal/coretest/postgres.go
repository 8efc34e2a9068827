package coretest

import (
	"context"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/core/internal/store/postgres/postgrestest"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

func init() { servers = serverEngine{migrate: migrateServer, open: openServer} }

func migrateServer(ctx context.Context, url string) error {
	return postgres.Migrate(ctx, secret.New(url))
}

func openServer(ctx context.Context, url string, c clock.Clock, o serverOptions) (*store.DB, error) {
	return postgrestest.Open(ctx, url, c, postgrestest.Options{Rehearse: o.rehearse, Alone: o.alone})
}
