package command

import (
	"cmp"
	"context"
	"crypto/rand"
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

// Config holds the settings of an Executor. V1 and DeduplicationSecret are required.
type Config struct {
	// V1 is the base URL of v1, scheme and host, without the /v1 path.
	V1 string
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
	// CallTimeout bounds one attempt. Zero means 30 seconds.
	CallTimeout time.Duration
	// TotalTimeout bounds one legacy request with all its commands, attempts and waits; see Begin.
	// Zero means 50 seconds: the proxy's HTTP servers end a response after 60, and legacy clients give
	// up at 120.
	TotalTimeout time.Duration
	// Attempts is the largest number of attempts at one v1 call, including the first. Zero means 4.
	Attempts int
	// Backoff is the wait before the second attempt; each further wait is four times as long. Zero
	// means 50 ms.
	Backoff time.Duration
	// FollowPause is the wait before a payment with an unknown outcome is read again. It doubles three
	// times. Zero means 250 ms.
	FollowPause time.Duration
	// Log gets a line at times while v1 does not respond. Nil discards it.
	Log *slog.Logger
	// Clock measures how old a cached response is. It may be wrong: ages of objects are measured by
	// v1's clock. Nil means the system's.
	Clock clock.Clock
	// DeduplicationSecret, at least 32 bytes, is the key from which names of requests are derived.
	// Proxies with the same secret share names.
	DeduplicationSecret secret.String
	// DeduplicationSecretOther is the previous or next secret during a rotation: requests have names
	// under both. Zero means none.
	DeduplicationSecretOther secret.String
	// NewKey returns a new unique Idempotency-Key. Nil means 128 random bits.
	NewKey func() string
}

// Executor runs commands as v1 calls. It is safe for concurrent use. Its only state is a
// short-lived memory of the scopes of API keys and of the ends of chains, which saves calls.
type Executor struct {
	cfg    Config
	client *v1.Client
	// payments is the URL of v1's transactions.
	payments  string
	keys      keyCache
	chainEnds chainEnds
	v1Clock   *v1Clock

	nextWarning atomic.Int64 // when the next line may be logged, by the monotonic clock
	suppressed  atomic.Int64 // number of suppressed lines after the last one
}

// New returns an executor. It opens and calls nothing. It returns an error for an invalid V1
// address, and for missing or short deduplication secrets.
func New(cfg Config) (*Executor, error) {
	if err := checkSecrets(cfg.DeduplicationSecret, cfg.DeduplicationSecretOther); err != nil {
		return nil, err
	}
	if cfg.Transport == nil {
		cfg.Transport = http.DefaultTransport
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.NewKey == nil {
		cfg.NewKey = rand.Text
	}
	cfg.CallTimeout = cmp.Or(cfg.CallTimeout, 30*time.Second)
	cfg.TotalTimeout = cmp.Or(cfg.TotalTimeout, 50*time.Second)
	cfg.Attempts = cmp.Or(cfg.Attempts, 4)
	cfg.FollowPause = cmp.Or(cfg.FollowPause, 250*time.Millisecond)
	cfg.Backoff = cmp.Or(cfg.Backoff, 50*time.Millisecond)

	transport := cfg.Transport
	if cfg.Observe != nil {
		transport = &observedTransport{transport, cfg.Clock, cfg.Observe}
	}
	times := &v1Clock{own: cfg.Clock}
	client, err := v1.NewClient(cfg.V1, v1.WithHTTPClient(
		doer{httpx.Traced(cfg.Tracer, template, &clockTransport{transport, times})}))
	if err != nil {
		return nil, fmt.Errorf("v1 client: %w", err)
	}
	return &Executor{
		cfg: cfg, client: client, payments: strings.TrimRight(cfg.V1, "/") + "/v1/transactions",
		keys: keyCache{entries: map[keyHash]keyEntry{}}, chainEnds: chainEnds{ends: map[chain]*takenKeys{}}, v1Clock: times,
	}, nil
}

// doer is an http.Client without cookies and redirects. A redirect would carry a card number to an
// address that is not configured.
type doer struct{ http.RoundTripper }

func (d doer) Do(r *http.Request) (*http.Response, error) { return d.RoundTrip(r) }

// Execute runs the commands in order with the caller's API key, and stops after the first that is
// not Done. It returns the results of the commands that ran. Failures are in the results.
//
// The log line of the request that ctx belongs to gets the ids of the objects in the results. A
// client that hangs up does not stop a payment half-way: Execute ignores the cancellation of ctx,
// but not its deadline. A command that has too little time left is not begun (CodeNotBegun). At the
// deadline, the result of a command is its last known outcome.
func (x *Executor) Execute(ctx context.Context, key secret.String, commands []Command) []Result {
	ctx, cancel := x.detached(ctx)
	defer cancel()
	results := make([]Result, 0, len(commands))
	for _, c := range commands {
		r := notBegun()
		if x.MayBegin(ctx) {
			r = x.execute(ctx, key, c)
		}
		results = append(results, r)
		logObjects(ctx, r)
		if r.Outcome != Done {
			break
		}
	}
	return results
}

func (x *Executor) execute(ctx context.Context, key secret.String, c Command) Result {
	c, err := masked(c)
	if err != nil {
		return unencodable()
	}
	s := session{x: x, key: key}
	if failed := s.prepare(ctx, c); failed != nil {
		return *failed
	}
	r := s.decide(ctx, c)
	if r.Code == v1.CodeVersionConflict { // after the last try
		r.Code = v1.CodeOperationInProgress
	}
	return r
}

// maxDecisions is the largest number of decisions of a command without a name, whose payment
// changes meanwhile.
const maxDecisions = 8

// decide runs a command. It runs it again, under another key, if the payment has changed between
// the read and the decision's request.
func (s session) decide(ctx context.Context, c Command) (r Result) {
	if named, ok := c.(Named); ok {
		return s.runNamed(ctx, named)
	}
	for range maxDecisions {
		s.idempotencyKey = s.x.idempotencyKey()
		if r = s.run(ctx, c); r.Code != v1.CodeVersionConflict {
			break
		}
	}
	return r
}

// run runs a command under the session's key.
func (s session) run(ctx context.Context, c Command) Result {
	switch c := c.(type) {
	case Authorize:
		return s.pay(ctx, c)
	case Capture:
		return s.capture(ctx, c)
	case Void:
		return s.void(ctx, c)
	case VoidGroup:
		return s.voidGroup(ctx, c)
	case Reverse:
		return s.reverse(ctx, c)
	case CancelCapture:
		return s.cancelCapture(ctx, c)
	case Refund:
		r := s.deduplicate(ctx, c.Deduplication, job{
			identity: c.identity(),
			do:       func(s session) Result { return s.refund(ctx, c) },
		})
		if r.Outcome == Repeated && r.Transaction == nil {
			r.Transaction, _ = s.target(ctx, c.Target) // a Repeated refund found in another period has not read it
		}
		return r
	case Credit:
		return s.deduplicate(ctx, c.Deduplication, job{
			identity: c.identity(),
			do:       func(s session) Result { return s.credit(ctx, c) },
		})
	case Get:
		return s.get(ctx, c)
	case CreateCustomer:
		return s.createCustomer(ctx, c)
	case AttachMethod:
		return s.attachMethod(ctx, c)
	case CreateToken:
		return s.token(ctx, c, s.idempotencyKey)
	case Refusal:
		return s.refuse(ctx)
	}
	return Result{Outcome: Refused, Code: "unsupported_command"}
}

// idempotencyKey returns the key of a command without a name. It is new for each command, so two
// legacy requests never share one, even if they are equal. All attempts of one command use the same
// key.
func (x *Executor) idempotencyKey() string { return x.cfg.NewKey() }

// session is the run of one command: the caller's API key, and one Idempotency-Key for all
// attempts.
type session struct {
	x              *Executor
	key            secret.String
	idempotencyKey string
	patient        bool // waits while another operation on the same payment runs
	// keyResponse records v1's response about the key of a Named command; nil for any other.
	keyResponse *keyResponse
	// names derives the request's names at v1, and otherNames derives them under the other secret; nil
	// without one.
	names      naming
	otherNames *naming
	// nonce, if set, makes the request to v1 differ from any other; see runWithoutWindow.
	nonce string
}

// named reports whether the session runs a Named command. Its key then stands for the name.
func (s session) named() bool { return s.keyResponse != nil }

// step returns the session of one step of a command, under another key.
func (s session) step(key string) session {
	s.idempotencyKey, s.keyResponse = key, nil
	return s
}

// authorized sets the API key on a call to v1, and the fields that trusted hops forward.
func (s session) authorized(ctx context.Context, r *http.Request) error {
	r.Header.Set("Authorization", "Bearer "+s.key.Reveal())
	httpx.ForwardClientAddress(ctx, s.x.cfg.Hop, r.Header)
	httpx.ForwardLegacy(ctx, r.Header)
	return nil
}
