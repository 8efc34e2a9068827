package pgurl

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Rotating has connections made with the user and the password that the URL has now: again reads
// it. One that cannot be read is none: the last good ones are tried.
func Rotating(again func() (string, error)) func(context.Context, *pgx.ConnConfig) error {
	return func(_ context.Context, made *pgx.ConnConfig) error {
		source, err := again()
		if err != nil || source == "" {
			return nil //nolint:nilerr // the server rejects the old ones if they ended
		}
		if now, err := pgx.ParseConfig(source); err == nil {
			made.User, made.Password = now.User, now.Password
		}
		return nil
	}
}
