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

// Variable holds the URL of the store; with _FILE behind it, one that names a file instead. The URL holds a password.
const Variable = "CAUSEWAY_STORE"

// errURL does not repeat what it refuses.
var errURL = errors.New("a store is postgres://USER:PASSWORD@HOST:PORT/DATABASE, or several HOST:PORT with commas between them; without one it is a " +
	"file in the data folder")

// URL reads the URL of the store from CAUSEWAY_STORE or the file that CAUSEWAY_STORE_FILE names. The zero secret when neither is set: then the store
// is a file.
func URL(getenv func(string) string) (secret.String, error) {
	return config.Environment(getenv, Variable)
}

// Database is core.Config's, on the server that a URL names. The zero URL gives none.
func Database(url secret.String) (core.Database, error) { return database(url, nil) }

// Rotating is Database where the URL's user and password may change: it is asked for at once, and again for each new connection.
func Rotating(ask func() (secret.String, error)) (core.Database, error) {
	url, err := ask()
	if err != nil {
		return nil, err
	}
	return database(url, func() (string, error) { url, err := ask(); return url.Reveal(), err })
}

func database(url secret.String, again func() (string, error)) (core.Database, error) {
	text := url.Reveal()
	switch {
	case text == "":
		return nil, nil //nolint:nilnil // that is how core.Config says none
	case !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://"):
		return nil, errURL
	}
	return func(ctx context.Context, c clock.Clock) (*store.DB, error) {
		return engine.OpenRotating(ctx, text, again, c)
	}, nil
}
