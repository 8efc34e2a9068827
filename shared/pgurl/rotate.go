package pgurl

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Rotating makes new connections with the present user and password of the URL, which again reads.
// If the URL cannot be read, it uses the last valid ones.
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
