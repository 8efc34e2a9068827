package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// rotating has connections made with the user and the password that the source has now. One that cannot be read is none: the last good ones are tried.
func rotating(again func() (string, error)) func(context.Context, *pgx.ConnConfig) error {
	return func(_ context.Context, made *pgx.ConnConfig) error {
		source, err := again()
		if err != nil {
			return nil //nolint:nilerr // the server says whether those of the start are good still
		}
		if now, err := pgx.ParseConfig(source); err == nil {
			made.User, made.Password = now.User, now.Password
		}
		return nil
	}
}
