package pgurl_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/causeway-pay/causeway/shared/pgurl"
)

// TestRotating: a connection uses the present user and password, and all else as at the start. If
// the URL is missing or cannot be read, it uses the user and password of the start.
func TestRotating(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	for _, c := range []struct {
		now            string
		err            error
		user, password string
	}{
		{"postgres://shop:second@elsewhere/other", nil, "shop", "second"},
		{"postgres://till:x@host/db", nil, "till", "x"},
		{"", away, "shop", "first"},
		{"", nil, "shop", "first"}, // a file that is being written
		{"postgres://shop:half%", nil, "shop", "first"},
	} {
		cfg, err := pgx.ParseConfig("postgres://shop:first@host/db")
		if err != nil {
			t.Fatal(err)
		}
		if err := pgurl.Rotating(func() (string, error) { return c.now, c.err })(t.Context(), cfg); err != nil {
			t.Errorf("%q: %v", c.now, err)
		}
		if cfg.User != c.user || cfg.Password != c.password || cfg.Host != "host" || cfg.Database != "db" {
			t.Errorf("%q: got %s %s at %s/%s", c.now, cfg.User, cfg.Password, cfg.Host, cfg.Database)
		}
	}
}
