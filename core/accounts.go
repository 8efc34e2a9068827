package core

import (
	"context"
	"log/slog"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/kinds"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/shared/id"
)

// loggedAccounts is the largest number of accounts in the log of a start.
const loggedAccounts = 20

// AddAccount is the command that adds an account of live mode. Credentials come from a file or from
// standard input.
const AddAccount = "core accounts add --merchant mer_… --kind KIND --currency usd --base-url https://… " +
	"--setting NAME=VALUE --credentials FILE"

// Account is an account of live mode, without its credentials.
type Account = operator.AccountHealth

// kinds returns the kinds of acquirers of live mode.
func (cfg Config) kinds() account.Kinds {
	if cfg.Kinds != nil {
		return cfg.Kinds
	}
	return kinds.All()
}

// Accounts returns the accounts of live mode with the state of their recent calls, oldest first.
func (c *Core) Accounts(ctx context.Context) ([]Account, error) {
	return api.AccountsHealth(ctx, c.accounts)
}

// logAccounts logs the accounts at the start, or how to add one.
func (c *Core) logAccounts(ctx context.Context, log *slog.Logger) {
	all, err := c.Accounts(ctx)
	if err != nil {
		log.ErrorContext(ctx, "the accounts of live mode cannot be read", slog.Any("error", err))
		return
	}
	if len(all) == 0 {
		log.InfoContext(ctx, "live mode has no acquirer account: requests with live keys that move money get 503 "+
			"acquirer_not_configured", slog.String("add_one", AddAccount))
		return
	}
	for _, a := range all[:min(len(all), loggedAccounts)] {
		log.InfoContext(ctx, "acquirer account", accountAttributes(a)...)
	}
	if more := len(all) - loggedAccounts; more > 0 {
		log.InfoContext(ctx, "more acquirer accounts: see core accounts list", slog.Int("number", more))
	}
}

func accountAttributes(a Account) []any {
	out := []any{
		slog.String("account", a.ID), slog.String("kind", a.Kind), slog.String("status", string(a.Status)),
		slog.Float64("unknown_share", a.UnknownShare), slog.Int64("unfinished_steps", a.Unfinished),
	}
	if a.LastSuccessAt != nil {
		out = append(out, slog.Time("last_success_at", a.LastSuccessAt.Time))
	}
	return out
}

// unfinished returns the numbers of unfinished steps by account, for the metrics.
func (c *Core) unfinished(ctx context.Context) (map[string]int64, error) {
	found, err := c.accounts.Unfinished(ctx)
	out := make(map[string]int64, len(found))
	for n, steps := range found {
		out[id.Format(id.Account, n)] = steps
	}
	return out, err
}
