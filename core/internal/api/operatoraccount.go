package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	accountsPath       = operator.Root + "/accounts"
	accountDisablePath = accountsPath + "/{id}/disable"
)

const (
	// healthAccounts is the largest number of accounts in health, and healthPatience how long their
	// read may take.
	healthAccounts = 100
	healthPatience = time.Second
)

func (o *Operator) accountRoutes(reads []string) []operatorRoute {
	const one = accountsPath + "/{id}"
	return []operatorRoute{
		{http.MethodGet, accountsPath, "", reads, o.listAccounts},
		{http.MethodPost, accountsPath, "accounts.add", nil, o.changing(o.addAccount)},
		{http.MethodGet, one, "", reads, o.getAccount},
		{http.MethodPost, one + "/check", "accounts.check", nil, o.changing(o.checkAccount)},
		{http.MethodPost, one + "/rotate", "accounts.rotate", nil, o.changing(o.rotateAccount)},
		{http.MethodPost, accountDisablePath, "accounts.disable", nil, o.changing(o.switchAccount(payment.AccountDisabled))},
		{http.MethodPost, one + "/enable", "accounts.enable", nil, o.changing(o.switchAccount(payment.AccountEnabled))},
	}
}

func (o *Operator) listAccounts(w http.ResponseWriter, r *http.Request, _ *trail) error {
	p, err := reservePage(r, id.Account, "merchant")
	if err != nil {
		return err
	}
	merchant := int64(0)
	if text := r.URL.Query().Get("merchant"); text != "" {
		if merchant, err = id.Parse(id.Merchant, text); err != nil {
			return &fault{code: codeInvalidValue, param: "merchant", message: "The value must be the id of a merchant, such as mer_0123456789abc."}
		}
	}
	found, err := o.Store.Accounts(r.Context(), merchant, p)
	if err != nil {
		return err
	}
	unfinished, err := o.Accounts.Unfinished(r.Context())
	if err != nil {
		return err
	}
	show := func(a *payment.Account) operator.Account { return o.showActiveAccount(a, unfinished) }
	o.write(w, r, http.StatusOK, showList(p, found, show))
	return nil
}

func (o *Operator) getAccount(w http.ResponseWriter, r *http.Request, left *trail) error {
	n, err := accountID(r, left)
	if err != nil {
		return err
	}
	if _, err := query(r); err != nil {
		return err
	}
	a, err := o.Store.Account(r.Context(), n)
	if err != nil {
		return err
	}
	unfinished, err := o.Accounts.Unfinished(r.Context())
	if err != nil {
		return err
	}
	shown := o.showActiveAccount(a, unfinished)
	o.write(w, r, http.StatusOK, encode(&shown))
	return nil
}

// accountID reads the account in the path, and puts its id into the audit record.
func accountID(r *http.Request, left *trail) (int64, error) {
	n, err := pathID(r, id.Account)
	if err == nil {
		left.account = id.Format(id.Account, n)
	}
	return n, err
}

func (o *Operator) addAccount(c *call, left *trail) (engine.Result, error) {
	c.show = func(out *engine.Result) error { left.account = resourceOf(out.Body); return nil }
	var in operator.AccountCreate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	made, credentials, err := o.Accounts.Create(c.Context(), in)
	if err != nil {
		return engine.Result{}, accountFault(err)
	}
	out, err := o.Engine.AddAccount(c.Context(), c.request, *made, credentials)
	return o.accountChanged(out, err)
}

func (o *Operator) rotateAccount(c *call, left *trail) (engine.Result, error) {
	n, err := accountID(c.Request, left)
	if err != nil {
		return engine.Result{}, err
	}
	var in operator.AccountRotate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	credentials, err := o.Accounts.Rotate(c.Context(), n, in)
	if err != nil {
		return engine.Result{}, accountFault(err)
	}
	out, err := o.Engine.RotateAccount(c.Context(), c.request, n, credentials)
	return o.accountChanged(out, err)
}

// switchAccount enables or disables an account.
func (o *Operator) switchAccount(state payment.AccountState) operatorCommand {
	return func(c *call, left *trail) (engine.Result, error) {
		n, err := accountID(c.Request, left)
		if err != nil {
			return engine.Result{}, err
		}
		if err := c.decode(&struct{}{}, true); err != nil {
			return engine.Result{}, err
		}
		out, err := o.Engine.SwitchAccount(c.Context(), c.request, n, state)
		return o.accountChanged(out, err)
	}
}

func (o *Operator) checkAccount(c *call, left *trail) (engine.Result, error) {
	n, err := accountID(c.Request, left)
	if err != nil {
		return engine.Result{}, err
	}
	if err := c.decode(&struct{}{}, true); err != nil {
		return engine.Result{}, err
	}
	if err := o.Accounts.Check(c.Context(), n); err != nil {
		return engine.Result{}, accountFault(err)
	}
	return o.Engine.AccountChecked(c.Context(), c.request, n)
}

// accountChanged makes a committed change take effect in this core.
func (o *Operator) accountChanged(out engine.Result, err error) (engine.Result, error) {
	o.Accounts.Forget() // also after an error: a commit can be unclear
	return out, accountFault(err)
}

// accountFault turns the errors of account commands into faults. It returns any other error
// unchanged.
func accountFault(err error) error {
	if failed, ok := errors.AsType[*account.CheckError](err); ok {
		return &fault{code: codeAccountCheckFailed, cause: err, message: "The check of the account failed. Nothing was changed. The reason: " +
			failed.Reason}
	}
	if errors.Is(err, account.ErrBusy) {
		return &fault{code: codeOverloaded, cause: err}
	}
	if errors.Is(err, engine.ErrNoMerchant) {
		return &fault{code: codeInvalidValue, param: "merchant", message: "The merchant does not exist.", cause: err}
	}
	return err
}

// showActiveAccount shows an account with its recent calls by this core.
func (o *Operator) showActiveAccount(a *payment.Account, unfinished map[int64]int64) operator.Account {
	out, seen := ShowAccount(a), o.Accounts.Activity(a.ID)
	out.Activity = &operator.AccountActivity{
		Calls: seen.Calls, Approved: seen.Outcomes["approved"], Declined: seen.Outcomes["declined"],
		NotFound: seen.Outcomes["not_found"], Unavailable: seen.Outcomes["unavailable"], Unknown: seen.Outcomes["unknown"],
		UnknownShare: seen.Share("unknown"), UnavailableShare: seen.Share("unavailable"),
		MedianMS: seen.Median.Milliseconds(), SlowestMS: seen.Slowest.Milliseconds(), LastSuccessAt: optionalTime(seen.LastSuccess),
		LastError: seen.LastError, LastErrorAt: optionalTime(seen.LastErrorAt), Unfinished: unfinished[a.ID],
	}
	return out
}

// ShowAccount shows an account without its credentials. If its stored settings do not decode, the
// base URL is empty: an operator must find such an account, and can disable it.
func ShowAccount(a *payment.Account) operator.Account {
	out := operator.Account{
		ID: id.Format(id.Account, a.ID), Object: operator.ObjectAccount, Merchant: id.Format(id.Merchant, a.Merchant), Kind: a.Kind,
		Currency: a.Currency, Method: a.Method, Second: a.Rank == payment.SecondAccount, Status: operator.Status(a.State), Version: a.Version,
		CreatedAt: v1.Time{Time: a.CreatedAt}, UpdatedAt: v1.Time{Time: a.UpdatedAt}, RotatedAt: v1.Time{Time: a.RotatedAt},
	}
	if baseURL, settings, err := account.Profile(a.Profile); err == nil {
		out.BaseURL, out.Settings = baseURL, settings
	}
	if out.Settings == nil {
		out.Settings = map[string]string{}
	}
	return out
}

func showAccountCheck(c *engine.AccountCheck) *operator.AccountCheck {
	return &operator.AccountCheck{
		Object: operator.ObjectAccountCheck, Account: id.Format(id.Account, c.Account), Accepted: true, CheckedAt: v1.Time{Time: c.At},
	}
}

type operatorsPortKey struct{}

// OnOperatorsPort returns the handler of v1's health on the operators' port, where the response
// also shows the accounts of live mode.
func (a *API) OnOperatorsPort() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), operatorsPortKey{}, true)))
	})
}

// healthBody returns the body of a response of health.
func (a *API) healthBody(ctx context.Context, h *v1.Health) []byte {
	if ctx.Value(operatorsPortKey{}) == nil || a.Accounts == nil {
		return encode(h)
	}
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	all, err := AccountsHealth(ctx, a.Accounts)
	if err != nil {
		a.Log.Log(ctx, httpx.FaultLevel(ctx), "health: the accounts cannot be read", "error", err)
		return encode(h)
	}
	return encode(&operator.Health{
		Health: *h, Accounts: all[:min(len(all), healthAccounts)], MoreAccounts: len(all) > healthAccounts,
	})
}

// AccountsHealth returns the state of all accounts and of their recent calls, oldest first.
func AccountsHealth(ctx context.Context, accounts *account.Accounts) ([]operator.AccountHealth, error) {
	all, err := accounts.All(ctx)
	if err != nil {
		return nil, err
	}
	unfinished, err := accounts.Unfinished(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]operator.AccountHealth, 0, len(all))
	for _, a := range all {
		seen := accounts.Activity(a.ID)
		out = append(out, operator.AccountHealth{
			ID: id.Format(id.Account, a.ID), Kind: a.Kind, Status: operator.Status(a.State),
			LastSuccessAt: optionalTime(seen.LastSuccess), UnknownShare: seen.Share("unknown"), UnavailableShare: seen.Share("unavailable"),
			LastError: seen.LastError, LastErrorAt: optionalTime(seen.LastErrorAt), Unfinished: unfinished[a.ID],
		})
	}
	return out, nil
}
