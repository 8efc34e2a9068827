package providerb

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// Config is an account at the provider.
type Config struct {
	MerchantID   string
	KeyID        string
	SharedSecret secret.String // base64
	Auth         string        // AuthSignature, the default, or AuthJWT
	// SettleUnknownAfter is the age at which an operation that the provider cannot find has certainly
	// had no effect. The default is 24 hours.
	SettleUnknownAfter time.Duration
	Upstream           *upstream.Client // of the provider's host
	Missing            acquirer.Missing // required
	Clock              clock.Clock      // nil means the machine's
}

// Connector sends payments to one account. It is safe for concurrent use.
type Connector struct {
	signer  signer
	settle  time.Duration
	host    *upstream.Client
	clock   clock.Clock
	missing acquirer.Missing
	echoes  *atomic.Bool // the host has repeated a correlation id
}

var (
	_ acquirer.Acquirer = (*Connector)(nil)
	_ acquirer.Reporter = (*Connector)(nil)
)

// headerForm is the form of a name that a header can have.
var headerForm = regexp.MustCompile(`^[!-~]{1,64}$`)

// New returns a connector to an account. Its error names a wrong setting.
func New(cfg Config) (*Connector, error) {
	cfg.Auth = cmp.Or(cfg.Auth, AuthSignature)
	cfg.SettleUnknownAfter = cmp.Or(cfg.SettleUnknownAfter, 24*time.Hour)
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	key, err := base64.StdEncoding.DecodeString(cfg.SharedSecret.Reveal())
	switch {
	case cfg.Upstream == nil:
		return nil, errors.New("provider-b: want the client of its host")
	case !headerForm.MatchString(cfg.MerchantID):
		return nil, errors.New("provider-b: merchant id: want 1 to 64 printable characters")
	case !headerForm.MatchString(cfg.KeyID):
		return nil, errors.New("provider-b: key id: want 1 to 64 printable characters")
	case err != nil || len(key) == 0:
		return nil, errors.New("provider-b: shared secret: want base64")
	case cfg.Auth != AuthSignature && cfg.Auth != AuthJWT:
		return nil, fmt.Errorf("provider-b: authentication %q: want %q or %q", cfg.Auth, AuthSignature, AuthJWT)
	case cfg.SettleUnknownAfter < timeoutAfter:
		return nil, fmt.Errorf("provider-b: settle unknown after %s: want at least %s", cfg.SettleUnknownAfter, timeoutAfter)
	case cfg.Missing == nil:
		return nil, errors.New("provider-b: no record of missing operations")
	}
	return &Connector{
		echoes:  new(atomic.Bool),
		missing: cfg.Missing,
		signer: signer{
			auth: cfg.Auth, host: cfg.Upstream.Host(), merchant: cfg.MerchantID, keyID: cfg.KeyID,
			key: secret.New(string(key)), newID: newUUID,
		},
		settle: cfg.SettleUnknownAfter, host: cfg.Upstream, clock: cfg.Clock,
	}, nil
}

// Check proves the host and the credentials, and moves no money: the provider looks for a
// transaction that does not exist. It returns acquirer.ErrLogin if the credentials are wrong. Any
// other host can accept every request, so a wrong signature must be refused.
func (c *Connector) Check(ctx context.Context) error {
	response, err := c.get(ctx, "1")
	if err != nil {
		return err
	}
	if response.Status == http.StatusUnauthorized {
		return fmt.Errorf("provider-b: %w: HTTP 401", acquirer.ErrLogin)
	}
	var body struct {
		Message string `json:"message"`
	}
	if response.Status != http.StatusNotFound || json.Unmarshal(response.Body, &body) != nil || body.Message == "" {
		return fmt.Errorf("provider-b: %w: HTTP %d, want the provider's 404", acquirer.ErrUnknown, response.Status)
	}
	wrong := *c
	wrong.signer.key = secret.New("not " + c.signer.key.Reveal())
	if response, err = wrong.get(ctx, "1"); err != nil {
		return err
	}
	if response.Status != http.StatusUnauthorized {
		return fmt.Errorf("provider-b: %w: it does not check signatures", acquirer.ErrUnknown)
	}
	return nil
}

// Prepare implements acquirer.Acquirer. The tag is the time at which the request is sent.
func (c *Connector) Prepare(context.Context) (string, error) {
	return c.clock.Now().UTC().Format(time.RFC3339), nil
}

// Authorize implements acquirer.Acquirer.
func (c *Connector) Authorize(ctx context.Context, r acquirer.Authorize) (acquirer.Response, error) {
	request, err := encodeAuthorize(r)
	if err != nil {
		return notSent(err)
	}
	operation := authorizing
	switch {
	case !r.BankAccount.Number.IsZero():
		operation = debiting
	case r.Capture:
		operation = selling
	}
	out, err := c.send(ctx, request, sent{operation: operation, amount: r.Amount, currency: r.Currency})
	switch {
	case err != nil:
		return acquirer.Response{}, err
	case out.class == held:
		if err := c.releaseHeld(ctx, r, out.response.ID); err != nil {
			return acquirer.Response{}, err
		}
	}
	out.response.Checks = checksOf(r, out.body.Processor)
	return out.response, nil
}

// releaseHeld reverses an authorization that the issuer approved and the provider's rules did not.
// Without the reversal, the payment is unknown, so that Inquire reverses it.
func (c *Connector) releaseHeld(ctx context.Context, r acquirer.Authorize, id string) error {
	out, err := c.release(ctx, acquirer.Follow{
		Reference: r.Reference + "/held", Tag: r.Tag, Original: acquirer.Sent{ID: id}, Amount: r.Amount, Currency: r.Currency,
	})
	if err == nil && out.response.Approved {
		return nil
	}
	return fmt.Errorf("provider-b: release a held authorization: %w", acquirer.ErrUnknown)
}

// Capture implements acquirer.Acquirer. A repeated capture undoes the earlier one, and returns
// acquirer.ErrNotFound once it has certainly no effect. A capture is declined and never sent
// without its number, or without the id of a payment that an operator has approved.
func (c *Connector) Capture(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	if !numbered(r) || r.Original.ID == "" {
		return declinedBy(refusals["NOT_SUPPORTED"], responseBody{}), nil
	}
	if r.Again {
		_, err := c.undoEarlier(ctx, acquirer.Capture, r)
		return acquirer.Response{}, err
	}
	request, err := encodeCapture(r)
	return c.follow(ctx, capturing, r, request, err)
}

// Refund implements acquirer.Acquirer. A repeated refund undoes the earlier one, and returns
// acquirer.ErrNotFound once it has certainly no effect. The provider has then voided it, or finds
// neither it nor another refund of the payment. Without the id of the payment or capture, which
// only an operator's approval lacks, it is declined and never sent.
func (c *Connector) Refund(ctx context.Context, r acquirer.Follow) (acquirer.Response, error) {
	if refunded(r).ID == "" {
		return declinedBy(refusals["NOT_SUPPORTED"], responseBody{}), nil
	}
	if r.Again {
		released, err := c.undoEarlier(ctx, acquirer.Refund, r)
		if !released && errors.Is(err, acquirer.ErrNotFound) && !c.unrefunded(ctx, r) {
			err = fmt.Errorf("provider-b: %w: the payment may have a refund", acquirer.ErrUnknown)
		}
		return acquirer.Response{}, err
	}
	request, err := encodeRefund(r)
	return c.follow(ctx, refunding, r, request, err)
}

// Credit implements acquirer.Acquirer.
func (c *Connector) Credit(ctx context.Context, r acquirer.Credit) (acquirer.Response, error) {
	request, err := encodeCredit(r)
	if err != nil {
		return notSent(err)
	}
	out, err := c.send(ctx, request, sent{operation: crediting, amount: r.Amount, currency: r.Currency})
	return out.response, err
}

func (c *Connector) follow(
	ctx context.Context, o operation, r acquirer.Follow, request request, err error,
) (acquirer.Response, error) {
	if err != nil {
		return notSent(err)
	}
	out, err := c.send(ctx, request, sent{operation: o, amount: r.Amount, currency: r.Currency})
	return out.response, err
}

func notSent(err error) (acquirer.Response, error) {
	return acquirer.Response{}, fmt.Errorf("%w: %w", acquirer.ErrUnavailable, err)
}

// send sends a request and decodes the response.
func (c *Connector) send(ctx context.Context, r request, s sent) (outcome, error) {
	body, err := r.bytes()
	if err != nil {
		return outcome{}, fmt.Errorf("%w: %w", acquirer.ErrUnavailable, errRequest)
	}
	response, err := c.exchange(ctx, http.MethodPost, r.path, body)
	if err != nil {
		return outcome{}, err
	}
	s.body = r.body
	out, err := decode(response, s)
	if errors.Is(err, acquirer.ErrUnknown) {
		c.host.Close()
	}
	return out, err
}

// exchange signs and sends a request. The provider repeats a request's correlation id. Once it has
// done so, a response with another one belongs to an earlier request, and proves nothing.
func (c *Connector) exchange(ctx context.Context, method, path string, body []byte) (upstream.Response, error) {
	const correlation = "V-C-Correlation-Id"
	id := uuid.NewString()
	header := c.signer.header(method, path, body, c.clock.Now())
	header.Set(correlation, id)
	response, err := c.host.Send(ctx, method, path, header, body, upstream.MaxOutcome)
	if err != nil {
		return upstream.Response{}, err //nolint:wrapcheck // it has the class of the cause
	}
	switch got := response.Header.Get(correlation); {
	case strings.EqualFold(got, id):
		c.echoes.Store(true)
	case got != "" && c.echoes.Load():
		c.host.Close()
		return upstream.Response{}, unknownFor(response, errMalformed)
	}
	return response, nil
}

// get reads the details of a transaction.
func (c *Connector) get(ctx context.Context, id string) (upstream.Response, error) {
	path := "/tss/v2/transactions/" + id
	return c.exchange(ctx, http.MethodGet, path, nil)
}
