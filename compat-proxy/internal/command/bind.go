package command

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// bind reserves the Idempotency-Key of the command's evidence at v1 for the command's name. It
// returns the command's result if the evidence is bound to another name, or if the reservation
// fails. Without an EvidenceKey, a command whose name equals the evidence uses the same key.
func (s session) bind(ctx context.Context, c Named) *Result {
	if c.Bound.Evidence == "" {
		return nil
	}
	evidence := c.Bound.Evidence
	if !c.Bound.EvidenceKey.IsZero() {
		s.key, evidence = c.Bound.EvidenceKey, "witness/"+evidence
		if failed := s.prepare(ctx, c); failed != nil {
			return failed
		}
	}
	return s.bindTo(ctx, func(n naming) string { return n.key(c.Kind(), evidence, 0) }, []string{"bound", c.Name})
}

// Bind reserves evidence at v1 for one purpose, for 24 hours. The result is Done if no other
// purpose has reserved it, and otherwise Refused with CodeNameSpent. Call it before the rest of a
// request is read, if the login's evidence covers no operation. The login then authenticates no
// other operation, even if this one fails.
func (x *Executor) Bind(ctx context.Context, key secret.String, b Binding, purpose []string) Result {
	if !x.MayBegin(ctx) {
		return notBegun()
	}
	ctx, cancel := x.detached(ctx)
	defer cancel()
	s := session{x: x, key: key}
	if !b.EvidenceKey.IsZero() {
		s.key = b.EvidenceKey
	}
	if failed := s.prepare(ctx, Named{}); failed != nil {
		return *failed
	}
	evidenceKey := func(n naming) string { return "evidence-" + n.derive([]string{b.Evidence}) }
	if failed := s.bindTo(ctx, evidenceKey, append([]string{"for"}, purpose...)); failed != nil {
		return *failed
	}
	return Result{Outcome: Done}
}

// Comparable returns the text by which two requests under one Idempotency-Key are compared. It has
// no security codes, because no value that depends on one is kept. It has no Deduplication, because
// a name outranks that. It has card numbers in full, so use it only as a purpose of Bind, which
// keeps an HMAC.
func Comparable(commands ...Command) (string, error) {
	type entry struct {
		Type    string
		Command Command
	}
	entries := make([]entry, 0, len(commands))
	for _, c := range commands {
		entries = append(entries, entry{fmt.Sprintf("%T", c), bare(c)})
	}
	text, err := v1.MarshalRevealed(entries)
	return string(text), err
}

// bare returns a copy of a command without its security codes and its Deduplication.
func bare(c Command) Command {
	switch c := c.(type) {
	case Authorize:
		c.Body.Card, c.Body.CardCvc, c.Deduplication = withoutCode(c.Body.Card), nil, Deduplication{}
		return c
	case Refund:
		c.Deduplication = Deduplication{}
		return c
	case Credit:
		c.Body.Card, c.Deduplication = withoutCode(c.Body.Card), Deduplication{}
		return c
	case CreateCustomer:
		return c.withoutCodes()
	case AttachMethod:
		c.Method.Token.Body.Card = withoutCode(c.Method.Token.Body.Card)
		return c
	case CreateToken:
		c.Body.Card = withoutCode(c.Body.Card)
		return c
	}
	return c
}

// withoutCode returns a copy of a card without its security code.
func withoutCode(c *v1.CardInput) *v1.CardInput {
	if c == nil {
		return nil
	}
	bare := *c
	bare.Cvc = nil
	return &bare
}

// bindTo reserves the key for the purpose. It returns the command's result if the key has another
// purpose, or if the reservation fails.
func (s session) bindTo(ctx context.Context, key func(naming) string, purpose []string) *Result {
	names, failed := s.chooseNames(ctx, key)
	if failed != nil {
		return failed
	}
	reserved, failed := s.reserve(ctx, key(names), names.derive(purpose))
	if failed == nil && !reserved {
		failed = &Result{Outcome: Refused, Status: http.StatusUnprocessableEntity, Code: CodeNameSpent}
	}
	return failed
}

// reserve reserves an Idempotency-Key at v1 for a purpose. It returns false if the key has another
// purpose, or belongs to another request. A reservation moves no money, so after a lost response
// the result is Unavailable, and the client can retry.
func (s session) reserve(ctx context.Context, key, purpose string) (bool, *Result) {
	s.keyResponse = nil // a reservation is not the command itself
	params, body := v1.ReserveIdempotencyKeyParams{IdempotencyKey: &key}, v1.IdempotencyKeyReserve{Purpose: purpose}
	// Wait after a rate limit: a key that is not reserved would leave a gap in the chain of keys.
	resp, ok := s.post(ctx, body, v1.CodeRateLimited,
		func(ctx context.Context, body *bytes.Reader) (*http.Response, error) {
			return s.x.client.API.ReserveIdempotencyKeyWithBody(ctx, &params, v1client.ContentType, body, s.authorized)
		})
	switch {
	case !ok:
		r := unencodable()
		return false, &r
	case resp.Status == http.StatusCreated, resp.Err.Code == v1.CodeKeyReused:
		return resp.Status == http.StatusCreated, nil
	}
	r := resp.result()
	if resp.Err.Code != v1.CodeKeyInUse && (r.Outcome == Uncertain || r.Outcome == NotFound) {
		r.Outcome = Unavailable
	}
	return false, &r
}
