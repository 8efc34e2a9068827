package account

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/money"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	// checkTime bounds the check of an account.
	checkTime = 20 * time.Second
	// checksAtOnce bounds the checks that wait for an acquirer. Each holds a slot of the operator's
	// API.
	checksAtOnce = 4
	// maxReason is the largest number of characters of a failed check's reason.
	maxReason = 500
	// minRedacted is the length of the shortest credential that is removed from texts, in bytes.
	minRedacted = 4
	// The bounds of settings and credentials.
	maxSettings = 32
	maxText     = 512
	maxSecret   = 16 << 10
)

// ErrBusy reports that too many checks wait for an acquirer.
var ErrBusy = errors.New("account: too many checks at the same time")

// CheckError reports that the acquirer did not accept the credentials of an account, or could not
// be reached. Reason names the base URL and the cause. It has no credential.
type CheckError struct{ Reason string }

func (e *CheckError) Error() string { return e.Reason }

// Create checks a new account. It returns the account, to which the store adds the sealed
// credentials, and the credentials as the vault seals them. Unless the operator has ruled that out,
// the acquirer must accept the credentials. The error is an operator.FieldError, a CheckError, or
// ErrBusy.
func (a *Accounts) Create(ctx context.Context, in operator.AccountCreate) (*payment.Account, secret.String, error) {
	row, err := newAccount(in)
	if err != nil {
		return nil, secret.String{}, err
	}
	s := Settings{Profile: in.Settings, Credentials: in.Credentials}
	base, err := upstream.ParseBaseURL(in.BaseURL)
	if err != nil {
		return nil, secret.String{}, fieldError("base_url", "%s", err)
	}
	s.BaseURL = base.String()
	if err := s.check(); err != nil {
		return nil, secret.String{}, err
	}
	if row.Profile, err = s.encodeProfile(); err != nil {
		return nil, secret.String{}, fmt.Errorf("account: encode the settings: %w", err)
	}
	if err := a.fits(ctx, row); err != nil {
		return nil, secret.String{}, err
	}
	if err := a.prove(ctx, in.Kind, s, in.Unchecked); err != nil {
		return nil, secret.String{}, err
	}
	credentials, err := s.seal(row)
	return row, credentials, err
}

// ExistsError is a payment.ErrAccountExists that names the account in the way.
type ExistsError struct {
	Account string // acct_…
	Second  bool
	Sandbox bool // one of both accounts is at a sandbox
}

func (e *ExistsError) Error() string { return payment.ErrAccountExists.Error() + ": " + e.Account }

func (*ExistsError) Unwrap() error { return payment.ErrAccountExists }

// fits checks that the merchant exists and has room for the account, before anything is sent. The
// store checks it again.
func (a *Accounts) fits(ctx context.Context, row *payment.Account) error {
	_, err := a.Store.Merchant(ctx, row.Merchant)
	if errors.Is(err, payment.ErrNotFound) {
		name := id.Format(id.Merchant, row.Merchant)
		return &operator.FieldError{Field: "merchant", Text: "merchant: " + name + " does not exist"}
	}
	if err != nil {
		return err
	}
	return a.Free(ctx, row)
}

// Free returns an ExistsError if another enabled account has the place of an account.
func (a *Accounts) Free(ctx context.Context, row *payment.Account) error {
	rows, err := a.Store.EnabledAccounts(ctx, row.Merchant)
	if err != nil {
		return err
	}
	for _, other := range rows {
		if other.ID != row.ID && other.Currency == row.Currency && other.Method == row.Method && other.Rank == row.Rank {
			return &ExistsError{
				Account: id.Format(id.Account, other.ID), Second: other.Rank == payment.SecondAccount,
				Sandbox: atSandbox(other) || atSandbox(row),
			}
		}
	}
	return nil
}

// atSandbox reports whether an account is at a provider's sandbox.
func atSandbox(row *payment.Account) bool {
	baseURL, _, err := Profile(row.Profile)
	return err == nil && Sandbox(baseURL)
}

// newAccount returns the account of a create without its settings.
func newAccount(in operator.AccountCreate) (*payment.Account, error) {
	row := &payment.Account{Currency: in.Currency, Method: in.Method, Rank: payment.FirstAccount, Kind: in.Kind}
	var err error
	if row.Merchant, err = id.Parse(id.Merchant, in.Merchant); err != nil {
		return nil, fieldError("merchant", "the id of a merchant, mer_…")
	}
	if _, known := money.Lookup(in.Currency); !known {
		if _, known := money.Lookup(strings.ToLower(in.Currency)); known {
			return nil, fieldError("currency", "lower case: %s", strings.ToLower(in.Currency))
		}
		return nil, fieldError("currency", "a lower-case ISO 4217 code in use, such as usd")
	}
	switch acquirer.Method(in.Method) {
	case "":
		row.Method = string(acquirer.CardMethod)
	case acquirer.CardMethod, acquirer.BankAccountMethod:
	default:
		return nil, fieldError("method", "%s or %s", acquirer.CardMethod, acquirer.BankAccountMethod)
	}
	if in.Second {
		row.Rank = payment.SecondAccount
	}
	return row, nil
}

// check checks the bounds of settings and credentials.
func (s Settings) check() error {
	if len(s.Profile) > maxSettings {
		return fieldError("settings", "at most %d", maxSettings)
	}
	for _, text := range s.Profile {
		if len(text) > maxText {
			return fieldError("settings", "texts of at most %d bytes, got %d", maxText, len(text))
		}
	}
	if n := len(s.Credentials); n == 0 || n > maxSettings {
		return fieldError("credentials", "1 to %d, got %d", maxSettings, n)
	}
	for _, text := range s.Credentials {
		if n := text.Len(); n == 0 || n > maxSecret {
			return fieldError("credentials", "texts of 1 to %d bytes, got %d", maxSecret, n)
		}
	}
	return nil
}

// Rotate checks new credentials of an account. It returns them as the vault seals them. It has the
// errors of Create, and payment.ErrNotFound. The account must open, so that the new credentials do
// not go to a host that a change of the database has named.
func (a *Accounts) Rotate(ctx context.Context, n int64, in operator.AccountRotate) (secret.String, error) {
	row, err := a.Store.Account(ctx, n)
	if err != nil {
		return secret.String{}, err
	}
	s, err := a.stored(row)
	if err != nil {
		return secret.String{}, err
	}
	s.Credentials = in.Credentials
	if err := s.check(); err != nil {
		return secret.String{}, err
	}
	if err := a.prove(ctx, row.Kind, s, in.Unchecked); err != nil {
		return secret.String{}, err
	}
	return s.seal(row)
}

// Check proves the stored credentials of an account at the acquirer, and moves no money. It returns
// a CheckError if that fails, ErrBusy, and payment.ErrNotFound if there is no such account.
func (a *Accounts) Check(ctx context.Context, n int64) error {
	row, err := a.Store.Account(ctx, n)
	if err != nil {
		return err
	}
	s, err := a.stored(row)
	if err != nil {
		return err
	}
	return a.prove(ctx, row.Kind, s, false)
}

// stored returns the settings of an account, and a CheckError if its row was changed.
func (a *Accounts) stored(row *payment.Account) (Settings, error) {
	s, err := a.settings(row)
	if errors.Is(err, errAltered) {
		return s, &CheckError{Reason: "the stored account is not the one that was added: its merchant, currency, method, " +
			"rank, kind, base URL, settings or credentials were changed in the database. Nothing is sent for it"}
	}
	if err != nil {
		return s, fmt.Errorf("account: open %s: %w", id.Format(id.Account, row.ID), err)
	}
	return s, nil
}

// prove opens a connector and, unless unchecked, has the acquirer check its credentials. It returns
// ErrBusy if checksAtOnce checks run.
func (a *Accounts) prove(ctx context.Context, kind string, s Settings, unchecked bool) error {
	connector, err := a.connector(kind, s)
	if err != nil {
		return s.refused(err)
	}
	if unchecked {
		return nil
	}
	select {
	case a.checks <- struct{}{}:
		defer func() { <-a.checks }()
	default:
		return ErrBusy
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	err = connector.Check(ctx)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return &CheckError{Reason: fmt.Sprintf("%s did not respond within %s", s.BaseURL, checkTime)}
	}
	return &CheckError{Reason: s.redact(s.failed(err))}
}

// away matches the status of a host that is overloaded or in maintenance, in a cause.
var away = regexp.MustCompile(`\bHTTP (?:status )?50[234]\b`)

// failed returns the reason of a failed check, and names the settings to correct.
func (s Settings) failed(err error) string {
	cause := acquirer.Cause(err)
	switch {
	case strings.HasSuffix(cause, "certificate is not trusted"):
		return fmt.Sprintf("%s was reached, but its certificate has expired, is for another host, "+
			"or is of an unknown authority (%s): compare this machine's clock. "+
			"A firewall that opens TLS or a private host needs its authority in SSL_CERT_FILE",
			s.BaseURL, cause)
	case away.MatchString(cause):
		return fmt.Sprintf("%s responded %s: it may be in maintenance, so try later. Otherwise check the base URL",
			s.BaseURL, away.FindString(cause))
	case errors.Is(err, acquirer.ErrLogin):
		return fmt.Sprintf("%s refused the login (%s): check the settings and the credentials", s.BaseURL, cause)
	case errors.Is(err, acquirer.ErrUnavailable):
		return fmt.Sprintf("%s cannot be reached (%s): check the base URL and the firewall", s.BaseURL, cause)
	case errors.Is(err, acquirer.ErrUnknown):
		return fmt.Sprintf("%s did not respond as the acquirer does (%s): is the base URL right?", s.BaseURL, cause)
	}
	return s.BaseURL + ": " + cause
}

// refused returns the error of a kind that did not open a connector, as an operator.FieldError.
func (s Settings) refused(err error) error {
	if invalid, ok := errors.AsType[*operator.FieldError](err); ok {
		return &operator.FieldError{Field: invalid.Field, Text: s.redact(invalid.Text)}
	}
	return &operator.FieldError{Field: "settings", Text: "settings: " + s.redact(err.Error())}
}

// redact removes credentials from a text of the acquirer, and bounds it. One of few bytes is part
// of ordinary words.
func (s Settings) redact(text string) string {
	for _, c := range s.Credentials {
		if c.Len() >= minRedacted {
			text = strings.ReplaceAll(text, c.Reveal(), c.String())
		}
	}
	if runes := []rune(text); len(runes) > maxReason {
		text = string(runes[:maxReason])
	}
	return text
}
