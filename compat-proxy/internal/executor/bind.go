package executor

import (
	"context"
	"net/http"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/deduplication"
	"github.com/causeway-pay/causeway/shared/secret"
)

// bind reserves the Idempotency-Key of the command's evidence at v1 for the command's name. It
// returns the command's result if the evidence is bound to another name, or if the reservation
// fails. Without an EvidenceKey, a command whose name equals the evidence uses the same key.
func (s session) bind(ctx context.Context, c command.Named) *command.Result {
	if c.Bound.Evidence == "" {
		return nil
	}
	evidence := c.Bound.Evidence
	if !c.Bound.EvidenceKey.IsZero() {
		s.APIKey, evidence = c.Bound.EvidenceKey, "witness/"+evidence
		if failed := s.prepare(ctx, c); failed != nil {
			return failed
		}
	}
	evidenceKey := func(n deduplication.Names) string { return namedKey(n, c.Kind(), evidence, 0) }
	return s.bindTo(ctx, evidenceKey, []string{"bound", c.Name})
}

// Bind reserves evidence at v1 for one purpose, for 24 hours. The result is Done if no other
// purpose has reserved it, and otherwise Refused with CodeNameSpent. Call it before the rest of a
// request is read, if the login's evidence covers no operation. The login then authenticates no
// other operation, even if this one fails.
func (x *Executor) Bind(ctx context.Context, key secret.String, b command.Binding, purpose []string) command.Result {
	if !x.MayBegin(ctx) {
		return notBegun()
	}
	ctx, cancel := x.detached(ctx)
	defer cancel()
	s := x.session(key)
	if !b.EvidenceKey.IsZero() {
		s.APIKey = b.EvidenceKey
	}
	if failed := s.prepare(ctx, command.Named{}); failed != nil {
		return *failed
	}
	evidenceKey := func(n deduplication.Names) string { return "evidence-" + n.Derive([]string{b.Evidence}) }
	if failed := s.bindTo(ctx, evidenceKey, append([]string{"for"}, purpose...)); failed != nil {
		return *failed
	}
	return command.Result{Outcome: command.Done}
}

// bindTo reserves the key for the purpose. It returns the command's result if the key has another
// purpose, or if the reservation fails.
func (s session) bindTo(ctx context.Context, key func(deduplication.Names) string, purpose []string) *command.Result {
	names, failed := s.ChooseNames(ctx, key)
	if failed != nil {
		return failed
	}
	reserved, failed := s.Reserve(ctx, key(names), names.Derive(purpose))
	if failed == nil && !reserved {
		failed = &command.Result{
			Outcome: command.Refused, Status: http.StatusUnprocessableEntity, Code: command.CodeNameSpent,
		}
	}
	return failed
}
