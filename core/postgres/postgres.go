package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/store"
	engine "github.com/causeway-pay/causeway/core/internal/store/postgres"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Variable is the environment variable with the URL of the store, which contains a password. With
// the suffix _FILE it names a file with the URL instead.
const Variable = "CAUSEWAY_STORE"

// errURL does not repeat the URL, which contains a password.
var errURL = errors.New(Variable + ": want postgres://USER:PASSWORD@HOST:PORT/DATABASE, " +
	"or several HOST:PORT with commas between them, or nothing for a file in the data folder")

// URL reads the URL of the store from CAUSEWAY_STORE, or from the file that CAUSEWAY_STORE_FILE
// names. It returns the zero secret if neither is set: then the store is a file.
func URL(getenv func(string) string) (secret.String, error) {
	return config.Environment(getenv, Variable)
}

// Database returns the database at a URL for core.Config. It returns nil for the zero URL.
func Database(url secret.String) (core.Database, error) { return database(url, nil) }

// Rotating is Database for a URL whose user and password may change. It calls read immediately, and
// again for each new connection.
func Rotating(read func() (secret.String, error)) (core.Database, error) {
	url, err := read()
	if err != nil {
		return nil, err
	}
	return database(url, func() (string, error) { url, err := read(); return url.Reveal(), err })
}

func database(url secret.String, again func() (string, error)) (core.Database, error) {
	text := url.Reveal()
	switch {
	case text == "":
		return nil, nil //nolint:nilnil // nil means none in core.Config
	case !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://"):
		return nil, errURL
	}
	return func(ctx context.Context, c clock.Clock) (*store.DB, error) {
		return engine.OpenRotating(ctx, text, again, c)
	}, nil
}
