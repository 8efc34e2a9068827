package account_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/account"
	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/core/internal/vault"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/telemetry/export"
	"github.com/causeway-pay/causeway/shared/telemetry/telemetrytest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const (
	firstKey = "planted-first-key"
	nextKey  = "planted-next-key"
)

// bundle is a service with an acquirer host, and the accounts of the service.
type bundle struct {
	*coretest.Service
	host     *coretest.Host
	accounts *account.Accounts
	calls    []account.Call
}

func setup(t *testing.T) *bundle {
	t.Helper()
	return on(t, coretest.Open(t), &coretest.Host{})
}

func on(t *testing.T, s *coretest.Service, host *coretest.Host) *bundle {
	t.Helper()
	b := &bundle{Service: s, host: host}
	b.accounts = b.open(t)
	return b
}

// open opens the accounts again, like another process.
func (b *bundle) open(t *testing.T) *account.Accounts {
	t.Helper()
	return account.New(account.Config{
		Store: b.DB, Vault: b.MustVault(t), Clock: b.Clock, Kinds: b.host.Kinds(),
		Called: func(c account.Call) { b.calls = append(b.calls, c) },
	})
}

func keys(key string) map[string]secret.String {
	return map[string]secret.String{"key": secret.New(key)}
}

// create returns the body of the create of an account for US dollars and cards.
func (b *bundle) create() operator.AccountCreate {
	return operator.AccountCreate{
		Merchant: id.Format(id.Merchant, b.Tenant.Merchant), Kind: coretest.HostKind, Currency: "usd",
		BaseURL: "https://host.example.com/", Settings: map[string]string{"login": "shop"}, Credentials: keys(firstKey),
	}
}

// add adds an account with the first key, after a change of its create, like another process.
func (b *bundle) add(t *testing.T, change func(*operator.AccountCreate)) int64 {
	t.Helper()
	b.host.Accept(firstKey)
	in := b.create()
	change(&in)
	row, credentials, err := b.open(t).Create(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.Engine.AddAccount(t.Context(), engine.Request{ID: "req"}, *row, credentials)
	if err != nil {
		t.Fatal(err)
	}
	return out.Object.(*payment.Account).ID
}

// rotate replaces the credentials by the next key, like another process.
func (b *bundle) rotate(t *testing.T, n int64) {
	t.Helper()
	b.host.Accept(nextKey)
	credentials, err := b.open(t).Rotate(t.Context(), n, operator.AccountRotate{Credentials: keys(nextKey)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Engine.RotateAccount(t.Context(), engine.Request{ID: "req"}, n, credentials); err != nil {
		t.Fatal(err)
	}
}

func (b *bundle) change(t *testing.T, n int64, state payment.AccountState) {
	t.Helper()
	if _, err := b.Engine.SwitchAccount(t.Context(), engine.Request{ID: "req"}, n, state); err != nil {
		t.Fatal(err)
	}
}

// ids returns the accounts for a new payment, or the error.
func (b *bundle) ids(t *testing.T, currency string, method acquirer.Method) ([]int64, error) {
	t.Helper()
	found, err := b.accounts.ForPayment(t.Context(), b.Tenant.Merchant, currency, method)
	var out []int64
	for _, a := range found {
		out = append(out, a.ID)
	}
	return out, err
}

// pay sends an authorization through an account, and returns the key that the host got.
func (b *bundle) pay(t *testing.T, a acquirer.Account, reference string) (key string, err error) {
	t.Helper()
	_, err = a.Authorize(t.Context(), acquirer.Authorize{Reference: reference, Amount: 100, Currency: "usd"})
	all := b.host.Keys()
	return all[len(all)-1], err
}

func (b *bundle) account(t *testing.T, n int64) acquirer.Account {
	t.Helper()
	a, err := b.accounts.Account(t.Context(), b.Tenant.Merchant, n)
	if err != nil || a.ID != n {
		t.Fatalf("got %d, %v", a.ID, err)
	}
	return a
}

// TestForPayment: a payment gets the accounts of its merchant, currency and method, in the order of
// their ranks.
func TestForPayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if _, err := b.ids(t, "usd", acquirer.CardMethod); !errors.Is(err, acquirer.ErrNoAccount) {
		t.Errorf("got %v, want %v", err, acquirer.ErrNoAccount)
	}
	second := b.add(t, func(in *operator.AccountCreate) { in.Second = true })
	first := b.add(t, func(*operator.AccountCreate) {})
	euro := b.add(t, func(in *operator.AccountCreate) { in.Currency = "eur" })
	bank := b.add(t, func(in *operator.AccountCreate) { in.Method = "bank_account" })
	b.accounts.Forget()
	for _, c := range []struct {
		currency string
		method   acquirer.Method
		want     []int64
	}{
		{"usd", acquirer.CardMethod, []int64{first, second}},
		{"eur", acquirer.CardMethod, []int64{euro}},
		{"usd", acquirer.BankAccountMethod, []int64{bank}},
		{"eur", acquirer.BankAccountMethod, nil},
		{"chf", acquirer.CardMethod, nil},
	} {
		got, err := b.ids(t, c.currency, c.method)
		var want error
		if c.want == nil {
			want = acquirer.ErrNoAccount
		}
		if !slices.Equal(got, c.want) || !errors.Is(err, want) {
			t.Errorf("%s %s: got %v, %v, want %v", c.currency, c.method, got, err, c.want)
		}
	}
	_, err := b.accounts.ForPayment(t.Context(), b.Tenant.Merchant+1, "usd", acquirer.CardMethod)
	if !errors.Is(err, acquirer.ErrNoAccount) {
		t.Errorf("another merchant: got %v, want %v", err, acquirer.ErrNoAccount)
	}
	if _, err := b.accounts.Account(t.Context(), b.Tenant.Merchant, 1); !errors.Is(err, acquirer.ErrNoAccount) {
		t.Errorf("no such account: got %v, want %v", err, acquirer.ErrNoAccount)
	}
	if _, err := b.accounts.Account(t.Context(), b.Tenant.Merchant+1, first); !errors.Is(err, account.ErrAltered) {
		t.Errorf("the account of another merchant: got %v, want %v", err, account.ErrAltered)
	}
	if got := b.host.Opened(); got != 4+4 { // each was checked once, and opened once
		t.Errorf("opened %d connectors, want 8", got)
	}
}

// TestCapturesOnce: an account has that property of its kind.
func TestCapturesOnce(t *testing.T) {
	t.Parallel()
	for _, want := range []bool{false, true} {
		b := setup(t)
		n := b.add(t, func(*operator.AccountCreate) {})
		kind := b.accounts.Kinds[coretest.HostKind]
		kind.CapturesOnce = want
		b.accounts.Kinds[coretest.HostKind] = kind
		a, err := b.accounts.Account(t.Context(), b.Tenant.Merchant, n)
		if err != nil || a.CapturesOnce != want {
			t.Errorf("got %t, %v, want %t", a.CapturesOnce, err, want)
		}
		all, err := b.accounts.ForPayment(t.Context(), b.Tenant.Merchant, "usd", acquirer.CardMethod)
		if err != nil || len(all) != 1 || all[0].CapturesOnce != want {
			t.Errorf("for a payment: got %+v, %v, want %t", all, err, want)
		}
	}
}

// TestAccountThatDoesNotOpen: the other account gets the payments, and the operator sees a call
// without effect. If no account opens, a payment is not refused for a missing account.
func TestAccountThatDoesNotOpen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.add(t, func(*operator.AccountCreate) {})
	second := b.add(t, func(in *operator.AccountCreate) { in.Second, in.Settings["login"] = true, "other" })
	broken := map[string]bool{"shop": true}
	opens := b.host.Kinds()[coretest.HostKind].Open
	b.accounts = account.New(account.Config{
		Store: b.DB, Vault: b.MustVault(t), Clock: b.Clock, Called: func(c account.Call) { b.calls = append(b.calls, c) },
		Kinds: account.Kinds{coretest.HostKind: {Open: func(s account.Settings) (account.Connector, error) {
			if broken[s.Profile["login"]] {
				return nil, errors.New("it does not open")
			}
			return opens(s)
		}}},
	})
	if got, err := b.ids(t, "usd", acquirer.CardMethod); err != nil || !slices.Equal(got, []int64{second}) {
		t.Errorf("got %v, %v, want the second account", got, err)
	}
	want := account.Call{
		Account: id.Format(id.Account, first), Kind: coretest.HostKind, Operation: "authorize", Outcome: "unavailable",
	}
	if !slices.Equal(b.calls, []account.Call{want}) {
		t.Errorf("got the calls %v, want %v", b.calls, want)
	}
	broken["other"] = true
	b.accounts.Forget()
	b.change(t, second, payment.AccountDisabled)
	b.change(t, second, payment.AccountEnabled) // another version, which is not open yet
	if _, err := b.ids(t, "usd", acquirer.CardMethod); err == nil || errors.Is(err, acquirer.ErrNoAccount) {
		t.Errorf("no account opens: got %v", err)
	}
}

// TestResponsesAreDiscreet: a host cannot bring a card number into the store.
func TestResponsesAreDiscreet(t *testing.T) {
	t.Parallel()
	const number = "4242424242424242"
	b := setup(t)
	b.host.Decide = func(coretest.Call) string { return "do_not_honor" }
	b.host.Network = acquirer.NetworkDecline{Given: true, Advice: number}
	a := b.account(t, b.add(t, func(*operator.AccountCreate) {}))
	got, err := a.Authorize(t.Context(), acquirer.Authorize{
		Reference: "one", Amount: 100, Currency: "usd",
		Source: acquirer.Source{Card: acquirer.Card{Number: secret.New(number)}},
	})
	if err != nil || got.Approved || got.Network.Advice != "" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestRotation: new credentials take effect in another process within a second. The old connector
// stays usable for calls in progress.
func TestRotation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	n := b.add(t, func(*operator.AccountCreate) {})
	old := b.account(t, n)
	if key, err := b.pay(t, old, "one"); key != firstKey || err != nil {
		t.Errorf("got %q, %v", key, err)
	}
	b.rotate(t, n)
	b.Clock.Advance(time.Second - time.Millisecond)
	if key, _ := b.pay(t, b.account(t, n), "two"); key != firstKey {
		t.Errorf("within the second: got %q, want the first key", key)
	}
	b.Clock.Advance(time.Millisecond)
	if key, err := b.pay(t, b.account(t, n), "three"); key != nextKey || err != nil {
		t.Errorf("after a second: got %q, %v, want the next key", key, err)
	}
	if key, err := b.pay(t, old, "four"); key != firstKey || !errors.Is(err, acquirer.ErrUnavailable) {
		t.Errorf("the old connector: got %q, %v", key, err)
	}
	found, err := b.accounts.ForPayment(t.Context(), b.Tenant.Merchant, "usd", acquirer.CardMethod)
	if err != nil || len(found) != 1 {
		t.Fatalf("got %d accounts, %v", len(found), err)
	}
	if key, err := b.pay(t, found[0], "five"); key != nextKey || err != nil {
		t.Errorf("a new payment: got %q, %v, want the next key", key, err)
	}
}

// TestDisabledAccount: within a second it gets no new payments. Its open payments still reach it.
func TestDisabledAccount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	n := b.add(t, func(*operator.AccountCreate) {})
	if got, err := b.ids(t, "usd", acquirer.CardMethod); err != nil || !slices.Equal(got, []int64{n}) {
		t.Fatalf("got %v, %v", got, err)
	}
	b.change(t, n, payment.AccountDisabled)
	b.Clock.Advance(time.Second)
	if got, err := b.ids(t, "usd", acquirer.CardMethod); !errors.Is(err, acquirer.ErrNoAccount) {
		t.Errorf("disabled: got %v, %v", got, err)
	}
	if _, err := b.pay(t, b.account(t, n), "open"); err != nil {
		t.Errorf("an open payment: got %v", err)
	}
	b.change(t, n, payment.AccountEnabled)
	b.accounts.Forget() // as a change through this core does
	if got, err := b.ids(t, "usd", acquirer.CardMethod); err != nil || !slices.Equal(got, []int64{n}) {
		t.Errorf("enabled again: got %v, %v", got, err)
	}
}

// TestTwoCoresPostgreSQL: a core notices the changes through another core within a second.
func TestTwoCoresPostgreSQL(t *testing.T) {
	t.Parallel()
	one := on(t, coretest.OpenShared(t), &coretest.Host{})
	other := on(t, one.Beside(t), one.host)
	if _, err := other.ids(t, "usd", acquirer.CardMethod); !errors.Is(err, acquirer.ErrNoAccount) {
		t.Errorf("got %v, want %v", err, acquirer.ErrNoAccount)
	}
	n := one.add(t, func(*operator.AccountCreate) {})
	one.Clock.Advance(time.Second)
	if got, err := other.ids(t, "usd", acquirer.CardMethod); err != nil || !slices.Equal(got, []int64{n}) {
		t.Errorf("an added account: got %v, %v", got, err)
	}
	if key, err := other.pay(t, other.account(t, n), "first"); key != firstKey || err != nil {
		t.Errorf("got %q, %v", key, err)
	}
	one.rotate(t, n)
	one.Clock.Advance(time.Second)
	if key, err := other.pay(t, other.account(t, n), "next"); key != nextKey || err != nil {
		t.Errorf("a rotated account: got %q, %v", key, err)
	}
	one.change(t, n, payment.AccountDisabled)
	one.Clock.Advance(time.Second)
	if _, err := other.ids(t, "usd", acquirer.CardMethod); !errors.Is(err, acquirer.ErrNoAccount) {
		t.Errorf("a disabled account: got %v", err)
	}
	other.account(t, n)
}

// holding is a store whose reads of a merchant's accounts wait.
type holding struct {
	account.Store
	read, release chan struct{}
}

func (h *holding) EnabledAccounts(ctx context.Context, merchant int64) ([]*payment.Account, error) {
	found, err := h.Store.EnabledAccounts(ctx, merchant)
	h.read <- struct{}{}
	<-h.release
	return found, err
}

// TestForgetDuringARead: a read that began before a change is not used after it.
func TestForgetDuringARead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	h := &holding{b.DB, make(chan struct{}, 9), make(chan struct{}, 9)}
	b.accounts.Store = h
	ended := make(chan error, 1)
	go func() {
		_, err := b.accounts.ForPayment(context.WithoutCancel(t.Context()), b.Tenant.Merchant, "usd", acquirer.CardMethod)
		ended <- err
	}()
	<-h.read
	n := b.add(t, func(*operator.AccountCreate) {})
	b.accounts.Forget()
	h.release <- struct{}{}
	if err := <-ended; !errors.Is(err, acquirer.ErrNoAccount) {
		t.Errorf("the read before: got %v", err)
	}
	h.release <- struct{}{}
	if got, err := b.ids(t, "usd", acquirer.CardMethod); err != nil || !slices.Equal(got, []int64{n}) {
		t.Errorf("after the change: got %v, %v, want %d", got, err, n)
	}
}

// TestSealedAtRest: no file of the data folder and no log line has a credential. Credentials do not
// open for another account.
func TestSealedAtRest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	n := b.add(t, func(*operator.AccountCreate) {})
	b.rotate(t, n)
	b.account(t, n)
	files := b.Files(t)
	files["log"] = []byte(b.Log.String())
	for path, content := range files {
		if bytes.Contains(content, []byte("planted-")) {
			t.Errorf("%s has a credential", path)
		}
	}
	if len(files) < 2 {
		t.Errorf("searched only %d files", len(files))
	}
	other := b.add(t, func(in *operator.AccountCreate) { in.Currency = "eur" })
	b.MustExec(t, `UPDATE acquirer_accounts SET credentials = (SELECT credentials FROM acquirer_accounts
		WHERE currency = 'usd') WHERE currency = 'eur'`)
	if _, err := b.accounts.Account(t.Context(), b.Tenant.Merchant, other); !errors.Is(err, account.ErrAltered) {
		t.Errorf("moved credentials: got %v, want %v", err, account.ErrAltered)
	}
}

// TestAlteredAccount: after a change of a row by another program than core, neither its credentials
// nor new ones are sent. That holds for a core that has the account open, too.
func TestAlteredAccount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	n := b.add(t, func(*operator.AccountCreate) {})
	b.account(t, n)
	sent := len(b.host.Keys())
	b.MustExec(t, "CREATE TABLE saved AS SELECT * FROM acquirer_accounts")
	for _, change := range []string{
		"profile = replace(profile, 'host.example', 'other.example')", "profile = replace(profile, 'shop', 'other')",
		"profile = profile || ' '", "kind = 'other'", "merchant_id = merchant_id + 1", "currency = 'jpy'",
		"method = 'bank_account'", "rank = 2", "id = id + 1",
	} {
		b.MustExec(t, "UPDATE acquirer_accounts SET "+change)
		altered := b.Number(t, "SELECT id FROM acquirer_accounts")
		for name, accounts := range map[string]*account.Accounts{"open": b.accounts, "new": b.open(t)} {
			accounts.Forget()
			if _, err := accounts.Account(t.Context(), b.Tenant.Merchant, altered); !errors.Is(err, account.ErrAltered) {
				t.Errorf("%s, %s: got %v, want %v", change, name, err, account.ErrAltered)
			}
			var failed *account.CheckError
			if err := accounts.Check(t.Context(), altered); !errors.As(err, &failed) {
				t.Errorf("%s, %s: check: got %v", change, name, err)
			}
			_, err := accounts.Rotate(t.Context(), altered, operator.AccountRotate{Credentials: keys(firstKey)})
			if !errors.As(err, &failed) {
				t.Errorf("%s, %s: rotate: got %v", change, name, err)
			}
		}
		b.MustExec(t, "DELETE FROM acquirer_accounts")
		b.MustExec(t, "INSERT INTO acquirer_accounts SELECT * FROM saved")
	}
	if got := len(b.host.Keys()); got != sent {
		t.Errorf("sent credentials %d times", got-sent)
	}
	if err := b.open(t).Check(t.Context(), n); err != nil {
		t.Errorf("as it was added: %v", err)
	}
}

// TestAlteredAccountIsShown: payments of an altered account are refused before anything is sent.
// The operator sees the cause, and the alert counts a call without effect.
func TestAlteredAccountIsShown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	n := b.add(t, func(*operator.AccountCreate) {})
	b.MustExec(t, "UPDATE acquirer_accounts SET profile = replace(profile, 'host.example', 'other.example')")
	_, err := b.ids(t, "usd", acquirer.CardMethod)
	if !errors.Is(err, account.ErrAltered) || !errors.Is(err, acquirer.ErrUnavailable) {
		t.Errorf("got %v, want %v", err, account.ErrAltered)
	}
	const cause = "the stored account or payment was changed outside core"
	if got := b.accounts.Activity(n); got.Outcomes["unavailable"] != 1 || !strings.Contains(got.LastError, cause) {
		t.Errorf("got %+v", got)
	}
	if len(b.calls) != 1 || b.calls[0].Outcome != "unavailable" {
		t.Errorf("got the calls %v", b.calls)
	}
}

// stale is a store whose list of enabled accounts is old.
type stale struct {
	account.Store
	rows []*payment.Account
}

func (s stale) EnabledAccounts(context.Context, int64) ([]*payment.Account, error) {
	return s.rows, nil
}

// TestVaultRotation: credentials are encrypted by the new key, and open after the old one was
// dropped. A cached account whose key was dropped opens, too.
func TestVaultRotation(t *testing.T) {
	t.Parallel()
	b := setup(t)
	n := b.add(t, func(*operator.AccountCreate) {})
	before, err := b.DB.EnabledAccounts(t.Context(), b.Tenant.Merchant)
	if err != nil {
		t.Fatal(err)
	}
	v := b.MustVault(t)
	old := v.Primary()
	r := vault.Rotation{
		Vault: v, Store: b.DB, Drop: true, Progress: func(int, int) {},
		Complain: func(object string, err error) { t.Errorf("%s: %v", object, err) },
	}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	row, err := b.DB.Account(t.Context(), n)
	if err != nil || row.VaultKey == old || row.Version != 1 {
		t.Errorf("got %+v, %v, want another key", row, err)
	}
	b.accounts = b.open(t) // its vault has the new key alone
	b.accounts.Store = stale{b.DB, before}
	found, err := b.accounts.ForPayment(t.Context(), b.Tenant.Merchant, "usd", acquirer.CardMethod)
	if err != nil || len(found) != 1 {
		t.Fatalf("a row from before the rotation: got %d accounts, %v", len(found), err)
	}
	if key, err := b.pay(t, found[0], "one"); key != firstKey || err != nil {
		t.Errorf("got %q, %v", key, err)
	}
	if err := b.DB.Update(t.Context(), func(tx *store.Tx) error {
		n, err := tx.CountSealed(v.Primary())
		if n != 0 {
			t.Errorf("%d rows are left", n)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// payInEachWay makes four payments, each with the outcome that its reference names. It returns the
// time of the last success.
func (b *bundle) payInEachWay(t *testing.T, a acquirer.Account) (success time.Time) {
	t.Helper()
	b.host.Decide = func(c coretest.Call) string {
		return map[string]string{"declined": "insufficient_funds"}[c.Reference]
	}
	b.host.After = func(_ context.Context, c coretest.Call) error {
		b.Clock.Advance(time.Millisecond)
		if c.Reference == "unknown" {
			return acquirer.ErrUnknown
		}
		return nil
	}
	for _, reference := range []string{"approved", "declined", "unknown"} {
		_, _ = b.pay(t, a, reference)
	}
	success = b.Clock.Now().Add(-time.Millisecond)
	b.host.Before = func(_ context.Context, c coretest.Call) error {
		if c.Reference == "unavailable" { // as a careless acquirer writes
			return fmt.Errorf("%w: the key %s is refused", acquirer.ErrUnavailable, firstKey)
		}
		return nil
	}
	_, _ = b.pay(t, a, "unavailable")
	return success
}

// TestActivity counts the recent calls of an account by their outcomes.
func TestActivity(t *testing.T) {
	t.Parallel()
	b := setup(t)
	n := b.add(t, func(*operator.AccountCreate) {})
	a := b.account(t, n)
	if got := b.accounts.Activity(n); got.Calls != 0 || !got.LastSuccess.IsZero() || got.Share("unknown") != 0 {
		t.Errorf("before any call: got %+v", got)
	}
	success := b.payInEachWay(t, a)
	if _, err := a.Inquire(t.Context(), acquirer.Sent{Reference: "missing"}); !errors.Is(err, acquirer.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	got := b.accounts.Activity(n)
	for _, outcome := range acquirer.Outcomes() {
		if got.Outcomes[outcome] != 1 {
			t.Errorf("%s: got %d calls, want 1", outcome, got.Outcomes[outcome])
		}
	}
	const cause = "the key [redacted] is refused"
	if got.Share("unavailable") != 0.2 || got.LastError != cause || !got.LastErrorAt.Equal(success.Add(time.Millisecond)) {
		t.Errorf("got %+v, want the last error", got)
	}
	if got.Calls != 5 || got.Share("unknown") != 0.2 || got.Slowest != time.Millisecond ||
		!got.LastSuccess.Equal(success) {
		t.Errorf("got %+v, want a last success at %s", got, success)
	}
	first := account.Call{
		Account: id.Format(id.Account, n), Kind: coretest.HostKind, Operation: "authorize", Outcome: "approved",
		Took: time.Millisecond,
	}
	if len(b.calls) != 5 || b.calls[0] != first {
		t.Errorf("reported %+v", b.calls)
	}
	b.Clock.Advance(time.Hour)
	if got := b.accounts.Activity(n); got.Calls != 0 || !got.LastSuccess.Equal(success) {
		t.Errorf("an hour later: got %+v", got)
	}
}

// TestReportsAreObserved: a request for settlement reports is counted and traced as the other calls
// of its account are.
func TestReportsAreObserved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	n := b.add(t, func(*operator.AccountCreate) {})
	collector := telemetrytest.New(t)
	exported, err := export.Open(t.Context(), export.Config{
		Getenv:  func(name string) string { return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL}[name] },
		Service: "core", Log: slog.New(slog.DiscardHandler), Console: io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.accounts.Tracer = exported.Tracer("core")
	a := b.account(t, n)
	var want []account.Call
	for _, c := range []struct {
		outcome string
		err     error
	}{{"reported", nil}, {"unavailable", acquirer.ErrUnavailable}, {"unknown", context.DeadlineExceeded}} {
		b.host.Settle = func(_ context.Context, of []acquirer.Sent) ([]acquirer.Settlement, error) {
			b.Clock.Advance(time.Second)
			return make([]acquirer.Settlement, len(of)), c.err
		}
		got, err := a.Settled(t.Context(), make([]acquirer.Sent, 2))
		if !errors.Is(err, c.err) || len(got) != 2 {
			t.Errorf("%s: got %d reports, %v, want 2, %v", c.outcome, len(got), err, c.err)
		}
		want = append(want, account.Call{
			Account: id.Format(id.Account, n), Kind: coretest.HostKind, Operation: "report", Outcome: c.outcome,
			Took: time.Second,
		})
	}
	if !slices.Equal(b.calls, want) {
		t.Errorf("counted %+v, want %+v", b.calls, want)
	}
	exported.Close(t.Context())
	failed, spans := 0, collector.Named("acquirer report")
	for _, span := range spans {
		if span.Failed {
			failed++
		}
	}
	if len(spans) != 3 || failed != 2 {
		t.Errorf("got %d spans, %d of them failed, want 3 and 2", len(spans), failed)
	}
}

// TestActivityIsBounded: it counts the last calls only.
func TestActivityIsBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	n := b.add(t, func(*operator.AccountCreate) {})
	a := b.account(t, n)
	for range 300 {
		_, _ = a.Inquire(t.Context(), acquirer.Sent{Reference: "missing"})
	}
	if got := b.accounts.Activity(n); got.Calls != 256 {
		t.Errorf("got %d calls, want the last 256", got.Calls)
	}
}
