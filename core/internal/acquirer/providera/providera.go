package providera

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// path is the path of every method.
const path = "/xml/v1/request.api"

// Config is a merchant's account at the provider.
type Config struct {
	Name           string           // the API login id
	TransactionKey secret.String    // of the login
	Upstream       *upstream.Client // of the API's host, such as https://api.authorize.net
	Clock          clock.Clock      // nil means the machine's
}

// Connector is the account as an acquirer. It is safe for concurrent use.
type Connector struct {
	client *upstream.Client
	name   string
	key    secret.String
	clock  clock.Clock

	mu       sync.Mutex
	searches map[string]*search // guarded by mu; by reference
}

var (
	_ acquirer.Acquirer = (*Connector)(nil)
	_ acquirer.Reporter = (*Connector)(nil)
)

// The lengths of the provider's credentials.
const (
	longestName = 25
	longestKey  = 16
)

// New returns the connector to an account. It sends nothing. Check proves the credentials.
func New(cfg Config) (*Connector, error) {
	if cfg.Name == "" || len(cfg.Name) > longestName {
		return nil, fmt.Errorf("providera: login name: want 1 to %d characters", longestName)
	}
	if cfg.TransactionKey.IsZero() || cfg.TransactionKey.Len() > longestKey {
		return nil, fmt.Errorf("providera: transaction key: want 1 to %d characters", longestKey)
	}
	if cfg.Upstream == nil {
		return nil, errors.New("providera: no upstream")
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	return &Connector{
		client: cfg.Upstream, name: cfg.Name, key: cfg.TransactionKey, clock: cfg.Clock, searches: map[string]*search{},
	}, nil
}

func (c *Connector) login() login { return login{c.name, c.key.Reveal()} }

// post sends a document once and returns the response's. Every outcome of the API has the status
// 200.
func (c *Connector) post(ctx context.Context, request any, most int64) (upstream.Response, error) {
	body, err := encode(request)
	if err != nil {
		return upstream.Response{}, fmt.Errorf("%w: %w", acquirer.ErrUnavailable, err)
	}
	header := http.Header{"Content-Type": {"text/xml; charset=utf-8"}}
	response, err := c.client.Send(ctx, http.MethodPost, path, header, body, most)
	if err != nil {
		return upstream.Response{}, fmt.Errorf("providera: %w", err)
	}
	if response.Status != http.StatusOK {
		c.client.Close()
		return upstream.Response{}, fmt.Errorf("providera: %w: HTTP status %d", acquirer.ErrUnknown, response.Status)
	}
	return response, nil
}

// transact sends a transaction once and returns its outcome.
func (c *Connector) transact(ctx context.Context, q question, t transaction) (acquirer.Response, error) {
	q.now = c.clock.Now()
	request := createTransactionRequest{Login: c.login(), RefID: q.refID, Transaction: t}
	response, err := c.post(ctx, request, upstream.MaxOutcome)
	if err != nil {
		return acquirer.Response{}, err
	}
	a, err := decode(q, response.Body)
	if errors.Is(err, acquirer.ErrUnknown) {
		c.client.Close()
	}
	return a, err
}

// ErrDetailsOff reports that the account does not allow its login to read transactions. Without
// that, an unknown outcome cannot be found.
var ErrDetailsOff = errors.New(
	"providera: the account's Transaction Details API is off: turn it on in the merchant interface")

// Check proves that the credentials are right and that the account's transactions can be read. It
// moves no money. It returns acquirer.ErrLogin if the credentials are wrong.
func (c *Connector) Check(ctx context.Context) error {
	d, err := c.ask(ctx, "authenticateTest", authenticateTestRequest{Login: c.login()})
	if err != nil {
		return err
	}
	switch {
	case d.ok():
	case envelopes[d.code()].class == noEffect:
		return fmt.Errorf("providera: %w: %s", acquirer.ErrLogin, shown(d.code()))
	default:
		return fmt.Errorf("providera: %w: %s", acquirer.ErrUnknown, shown(d.code()))
	}
	d, err = c.ask(ctx, "getTransactionDetails", detailsRequest{Login: c.login(), ID: "1"}) // of another account
	switch {
	case err != nil:
		return err
	case d.code() == codeDenied:
		return ErrDetailsOff
	case !d.ok() && d.code() != codeNoRecord:
		return fmt.Errorf("providera: the account does not show transactions: %s", shown(d.code()))
	}
	return nil
}

// The codes of the reading methods.
const (
	codeDenied   = "E00011"
	codeNoRecord = "E00040"
	codeNoRows   = "I00004"
	codeTooFar   = "E00094" // the page is after the last one that can be read
)

// Prepare implements acquirer.Acquirer.
func (c *Connector) Prepare(context.Context) (string, error) {
	return tagOf(c.clock.Now()), nil
}

// Authorize implements acquirer.Acquirer.
func (c *Connector) Authorize(ctx context.Context, r acquirer.Authorize) (acquirer.Response, error) {
	if v, refuses := refusal(r.Source); refuses {
		return v.outcome(), nil
	}
	if r.PriorCode != "" && !r.Capture {
		return notPossible(), nil // the API captures such a payment immediately
	}
	t, err := encodeAuthorize(r)
	if err != nil {
		return acquirer.Response{}, fmt.Errorf("%w: %w", acquirer.ErrUnavailable, err)
	}
	about := acquirer.Sent{
		Kind: acquirer.Authorization, Reference: r.Reference, Tag: r.Tag, Amount: r.Amount, Currency: r.Currency,
	}
	if t.Type != typeAuthorize {
		about.Kind = acquirer.Sale
	}
	q := question{
		kind: about.Kind, refID: invoiceNumber(r.Reference), amount: r.Amount, currency: r.Currency,
		account: accountOf(r.Source), given: givenBy(r),
	}
	return c.unlessDuplicate(ctx, about, q, t)
}

// unlessDuplicate sends a transaction. If an equal one exists, it can only be an earlier arrival of
// the same request, because it has the same invoice number. Its outcome is then that of the
// request.
func (c *Connector) unlessDuplicate(
	ctx context.Context, about acquirer.Sent, q question, t transaction,
) (acquirer.Response, error) {
	a, err := c.transact(ctx, q, t)
	if errors.Is(err, errDuplicate) {
		return c.Inquire(ctx, about)
	}
	return a, err
}

// accountOf returns the number that the response must show the end of. That of a network token can
// be the card's.
func accountOf(s acquirer.Source) secret.String {
	if !s.Card.Number.IsZero() {
		return s.Card.Number
	}
	return s.BankAccount.Number
}

// longestNumber is the greatest length of a card number in the API.
const longestNumber = 16

// refusal returns the decline of a source that the API has no field for.
func refusal(s acquirer.Source) (verdict, bool) {
	if s.Card.Number.Len() > longestNumber || s.NetworkToken.Number.Len() > longestNumber {
		return verdict{declined, v1.DeclineCodeCardNotSupported, isoNotPermitted}, true
	}
	return verdict{}, false
}

// notPossible returns the decline of a step that the provider cannot make.
func notPossible() acquirer.Response {
	return verdict{declined, v1.DeclineCodeProcessingError, isoInvalid}.outcome()
}

// Credit implements acquirer.Acquirer.
func (c *Connector) Credit(ctx context.Context, r acquirer.Credit) (acquirer.Response, error) {
	if v, refuses := refusal(r.Source); refuses {
		return v.outcome(), nil
	}
	t, err := encodeCredit(r)
	if err != nil {
		return acquirer.Response{}, fmt.Errorf("%w: %w", acquirer.ErrUnavailable, err)
	}
	about := acquirer.Sent{
		Kind: acquirer.UnlinkedRefund, Reference: r.Reference, Tag: r.Tag, Amount: r.Amount, Currency: r.Currency,
	}
	q := question{
		kind: about.Kind, refID: invoiceNumber(r.Reference), amount: r.Amount, currency: r.Currency,
		account: accountOf(r.Source),
	}
	return c.unlessDuplicate(ctx, about, q, t)
}
