package v1client

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
	"github.com/causeway-pay/causeway/shared/telemetry"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Config holds the settings of a Client. URL is required.
type Config struct {
	// URL is the base URL of v1, scheme and host, without the /v1 path.
	URL string
	// Transport sends the calls. Nil means http.DefaultTransport.
	Transport http.RoundTripper
	// Hop authenticates the client address that v1 receives. Zero forwards no address.
	Hop secret.String
	// Tracer makes a span for every attempt. Nil makes none, and still passes the legacy client's
	// trace context on to v1.
	Tracer *telemetry.Tracer
	// Observe gets every attempt, when the header of its response has arrived or the attempt failed.
	// It must not block. May be nil.
	Observe func(Call)
	// ObserveUnconfigured gets each refusal of a merchant without an account. May be nil.
	ObserveUnconfigured func()
	// CallTimeout bounds one attempt. Zero means 30 seconds.
	CallTimeout time.Duration
	// Attempts is the largest number of attempts at one call, including the first. Zero means 4.
	Attempts int
	// Backoff is the wait before the second attempt; each further wait is four times as long. Zero
	// means 50 ms.
	Backoff time.Duration
	// Log gets a line at times while v1 does not respond. Nil discards it.
	Log *slog.Logger
	// Clock measures how old a cached response is. It may be wrong: ages of objects are measured by
	// v1's clock. Nil means the system's.
	Clock clock.Clock
}

// Client calls v1. It is safe for concurrent use. It keeps v1's time and the scopes of API keys for
// a short time, which saves calls.
type Client struct {
	API *v1.Client // sends one attempt

	cfg Config
	// payments is the URL of v1's transactions.
	payments string
	keys     keyCache
	clock    *v1Clock

	nextWarning atomic.Int64 // when the next line may be logged, by the monotonic clock
	suppressed  atomic.Int64 // number of suppressed lines after the last one
}

// New returns a client. It opens and calls nothing. It returns an error for an invalid URL.
func New(cfg Config) (*Client, error) {
	if cfg.Transport == nil {
		cfg.Transport = http.DefaultTransport
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.CallTimeout = cmp.Or(cfg.CallTimeout, 30*time.Second)
	cfg.Attempts = cmp.Or(cfg.Attempts, 4)
	cfg.Backoff = cmp.Or(cfg.Backoff, 50*time.Millisecond)

	transport := cfg.Transport
	if cfg.Observe != nil {
		transport = &observedTransport{transport, cfg.Clock, cfg.Observe}
	}
	times := &v1Clock{own: cfg.Clock}
	api, err := v1.NewClient(cfg.URL, v1.WithHTTPClient(
		doer{httpx.Traced(cfg.Tracer, template, &clockTransport{transport, times})}))
	if err != nil {
		return nil, fmt.Errorf("v1 client: %w", err)
	}
	return &Client{
		API: api, cfg: cfg, payments: strings.TrimRight(cfg.URL, "/") + "/v1/transactions",
		keys: keyCache{entries: map[keyHash]keyEntry{}}, clock: times,
	}, nil
}

// doer is an http.Client without cookies and redirects. A redirect would carry a card number to an
// address that is not configured.
type doer struct{ http.RoundTripper }

func (d doer) Do(r *http.Request) (*http.Response, error) { return d.RoundTrip(r) }

// As sets an API key on a request to v1, and the fields that trusted hops forward.
func (c *Client) As(key secret.String) v1.RequestEditorFn {
	return func(ctx context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key.Reveal())
		httpx.ForwardClientAddress(ctx, c.cfg.Hop, r.Header)
		httpx.ForwardLegacy(ctx, r.Header)
		return nil
	}
}

// ContentType is the media type of every body that is sent to v1.
const ContentType = "application/json"

// CreateTransaction is the generated CreateTransactionWithBody without two costs: it does not parse
// the URL and does not format the headers. Most calls of a proxy are this one.
func (c *Client) CreateTransaction(
	ctx context.Context, key secret.String, idempotencyKey string, body *bytes.Reader,
) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.payments, body)
	if err != nil {
		return nil, fmt.Errorf("create a transaction: %w", err)
	}
	r.Header["Content-Type"] = []string{ContentType}
	r.Header["Idempotency-Key"] = []string{idempotencyKey}
	if err := c.As(key)(ctx, r); err != nil {
		return nil, err
	}
	return c.API.Client.Do(r)
}
