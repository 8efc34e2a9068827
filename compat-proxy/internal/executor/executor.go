package executor

import (
	"cmp"
	"context"
	"crypto/rand"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/deduplication"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Config holds the settings of an Executor. V1.URL and DeduplicationSecret are required.
type Config struct {
	// V1 is how v1 is called.
	V1 v1client.Config
	// TotalTimeout bounds one legacy request with all its commands, attempts and waits; see Begin.
	// Zero means 50 seconds: the proxy's HTTP servers end a response after 60, and legacy clients give
	// up at 120.
	TotalTimeout time.Duration
	// FollowPause is the wait before a payment with an unknown outcome is read again. It doubles three
	// times. Zero means 250 ms.
	FollowPause time.Duration
	// DeduplicationSecret, at least 32 bytes, is the key from which names of requests are derived.
	// Proxies with the same secret share names.
	DeduplicationSecret secret.String
	// DeduplicationSecretOther is the previous or next secret during a rotation: requests have names
	// under both. Zero means none.
	DeduplicationSecretOther secret.String
	// ObserveReplay gets the kind of each command whose result is the stored one of an earlier equal
	// request. May be nil.
	ObserveReplay func(command.Kind)
	// NewKey returns a new unique Idempotency-Key, for a command without a name. So two legacy
	// requests never share one, even if they are equal. Nil means 128 random bits.
	NewKey func() string
}

// Executor runs commands as v1 calls. It is safe for concurrent use. Its only state is a
// short-lived memory of the ends of chains, which saves calls, and the state of its client.
type Executor struct {
	cfg          Config
	client       *v1client.Client
	deduplicator *deduplication.Deduplicator
}

// New returns an executor. It opens and calls nothing. It returns an error for an invalid V1
// address, and for missing or short deduplication secrets.
func New(cfg Config) (*Executor, error) {
	if cfg.NewKey == nil {
		cfg.NewKey = rand.Text
	}
	cfg.TotalTimeout = cmp.Or(cfg.TotalTimeout, 50*time.Second)
	cfg.FollowPause = cmp.Or(cfg.FollowPause, 250*time.Millisecond)
	client, err := v1client.New(cfg.V1)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the client
	}
	d, err := deduplication.New(deduplication.Config{
		Client: client, Secret: cfg.DeduplicationSecret, SecretOther: cfg.DeduplicationSecretOther,
		Pause: cfg.FollowPause, NewKey: cfg.NewKey,
	})
	if err != nil {
		return nil, err
	}
	return &Executor{cfg: cfg, client: client, deduplicator: d}, nil
}

// Execute runs a command with the caller's API key. Failures are in the result.
//
// The log line of the request that ctx belongs to gets the ids of the objects in the result. If the
// result is the stored one of an earlier equal request, the word "replayed" gets the command's
// kind.
//
// A client that hangs up does not stop a payment half-way: Execute ignores the cancellation of ctx,
// but not its deadline. A list ends with its client, because it can cost its merchant many calls.
// A command that has too little time left is not begun (CodeNotBegun). At the deadline, the result
// is the last known outcome.
func (x *Executor) Execute(ctx context.Context, key secret.String, c command.Command) command.Result {
	begin := x.detached
	if isList(c) {
		begin = x.Begin
	}
	ctx, cancel := begin(ctx)
	defer cancel()
	if !x.MayBegin(ctx) {
		return notBegun()
	}
	r := x.execute(ctx, key, c)
	logObjects(ctx, r)
	if r.Replayed {
		x.showReplay(ctx, c.Kind())
	}
	return r
}

// isList reports whether a command only lists. A Named command uses its name.
func isList(c command.Command) bool {
	_, named := c.(command.Named)
	return !named && strings.HasSuffix(string(c.Kind()), ".list")
}

func (x *Executor) execute(ctx context.Context, key secret.String, c command.Command) command.Result {
	c, err := command.Masked(c)
	if err != nil {
		return command.Unencodable()
	}
	s := x.session(key)
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
func (s session) decide(ctx context.Context, c command.Command) (r command.Result) {
	if named, ok := c.(command.Named); ok {
		return s.runNamed(ctx, named)
	}
	for range maxDecisions {
		s.IdempotencyKey = s.x.cfg.NewKey()
		if r = s.run(ctx, c); r.Code != v1.CodeVersionConflict {
			break
		}
	}
	return r
}

// run runs a command under the session's key.
//
//nolint:funlen // one case for each command
func (s session) run(ctx context.Context, c command.Command) command.Result {
	switch c := c.(type) {
	case command.Authorize:
		return s.pay(ctx, c)
	case command.Capture:
		return s.capture(ctx, c)
	case command.Void:
		return s.void(ctx, c)
	case command.VoidGroup:
		return s.voidGroup(ctx, c)
	case command.Reverse:
		return s.reverse(ctx, c)
	case command.CancelCapture:
		return s.cancelCapture(ctx, c)
	case command.Refund:
		r := s.deduplicate(ctx, c.Deduplication, deduplication.Job{Identity: c.Identity()},
			func(s session) command.Result { return s.refund(ctx, c) })
		if r.Outcome == command.Repeated && r.Transaction == nil {
			r.Transaction, _ = s.target(ctx, c.Target) // a Repeated refund found in another period has not read it
		}
		return r
	case command.Credit:
		return s.deduplicate(ctx, c.Deduplication, deduplication.Job{Identity: c.Identity()},
			func(s session) command.Result { return s.credit(ctx, c) })
	case command.Get:
		return s.get(ctx, c)
	case command.ListTransactions:
		return s.listTransactions(ctx, c)
	case command.ListDays:
		return s.listDays(ctx, c)
	case command.GetDay:
		return s.getDay(ctx, c)
	case command.CreateCustomer:
		return s.createCustomer(ctx, c)
	case command.GetCustomer:
		return s.getCustomer(ctx, c)
	case command.ListCustomers:
		return s.listCustomers(ctx)
	case command.IdentifyCustomer:
		return s.identify(ctx, c)
	case command.FindCustomer:
		return s.findEqual(ctx, c)
	case command.UpdateCustomer:
		return s.updateCustomer(ctx, c)
	case command.DeleteCustomer:
		return s.deleteNumbered(ctx, c)
	case command.GetMethod:
		return s.getMethod(ctx, c)
	case command.ListExpiring:
		return s.listExpiring(ctx, c)
	case command.AddMethod:
		return s.addMethod(ctx, c)
	case command.ChangeMethod:
		return s.changeMethod(ctx, c)
	case command.DetachMethod:
		return s.detachMethod(ctx, c)
	case command.AddAddress:
		return s.addAddress(ctx, c)
	case command.ChangeAddress:
		return s.changeAddress(ctx, c)
	case command.DeleteAddress:
		return s.deleteAddress(ctx, c)
	case command.AttachMethod:
		return s.attachMethod(ctx, c)
	case command.CreateToken:
		return s.token(ctx, c, s.IdempotencyKey)
	case command.Refusal:
		return s.refuse(ctx)
	}
	return command.Result{Outcome: command.Refused, Code: "unsupported_command"}
}

// deduplicate runs do unless it would repeat an equal request. A Named command, and one without
// fields by which requests are equal, is never a duplicate.
func (s session) deduplicate(
	ctx context.Context, o command.Deduplication, j deduplication.Job, do func(session) command.Result,
) command.Result {
	if len(o.Same) == 0 || s.named() {
		return do(s)
	}
	j.Do = func(r deduplication.Request) command.Result {
		s.Request = r
		return do(s)
	}
	return s.Deduplicate(ctx, o, j)
}

// session is the run of one command: the caller's API key, and one Idempotency-Key for all
// attempts.
type session struct {
	deduplication.Request

	x       *Executor
	patient bool // waits while another operation on the same payment runs
	// keyResponse records v1's response about the key of a Named command; nil for any other.
	keyResponse *keyResponse
}

// session returns the session of a command without an Idempotency-Key.
func (x *Executor) session(key secret.String) session {
	return session{x: x, Request: x.deduplicator.Request(key)}
}

// named reports whether the session runs a Named command. Its key then stands for the name.
func (s session) named() bool { return s.keyResponse != nil }

// step returns the session of one step of a command, under another key.
func (s session) step(key string) session {
	s.IdempotencyKey, s.keyResponse = key, nil
	return s
}

// prepare sets the session's names, if the command needs any. It returns the result to give if v1
// does not identify the API key.
func (s *session) prepare(ctx context.Context, c command.Command) *command.Result {
	if !needsNames(c) {
		return nil
	}
	of, failed := s.x.tenant(ctx, s.APIKey)
	if failed != nil {
		return failed
	}
	s.Request = s.For(of)
	return nil
}

// needsNames reports whether v1 stores a command, or finds it, under a derived name.
func needsNames(c command.Command) bool {
	switch c := c.(type) {
	case command.Named, command.CreateCustomer, command.AttachMethod, command.AddMethod, command.AddAddress,
		command.IdentifyCustomer, command.FindCustomer:
		return true
	case command.Authorize:
		return len(c.Deduplication.Same) > 0
	case command.Refund:
		return len(c.Deduplication.Same) > 0
	case command.Credit:
		return len(c.Deduplication.Same) > 0
	case command.Reverse:
		return c.Target == ""
	case command.CancelCapture:
		return c.Target == ""
	}
	return false
}

// loadDuplicated reads the payment that r duplicates, because a client that named a stored payment
// method does not have the charged source. Nothing changes if it cannot be read.
func (s session) loadDuplicated(ctx context.Context, r *command.Result) {
	if r.Outcome == command.Repeated && r.Transaction == nil && r.Duplicated != "" {
		r.Transaction, _ = s.read(ctx, r.Duplicated)
	}
}
