package trust

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/shared/announce"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// unpublished is a policy whose publication failed.
type unpublished struct {
	policy   v1.TLSPolicy
	attempts int
	due      time.Time // the next attempt
}

// Policy sets the TLS policy. Every merchant gets one event with the differences to the previous
// policy. After an error Run repeats the publication, with growing pauses.
func (s *Publisher) Policy(ctx context.Context, p v1.TLSPolicy) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.policy = &unpublished{policy: sorted(p)}
	return s.publishPolicy(ctx)
}

// retryPolicy publishes the policy if its publication failed and is due again.
func (s *Publisher) retryPolicy(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.policy == nil || s.cfg.Clock.Now().Before(s.policy.due) {
		return
	}
	if err := s.publishPolicy(ctx); err != nil {
		s.cfg.Log.ErrorContext(ctx, "trust: the TLS policy was not published; it is retried",
			slog.Int("attempts", s.policy.attempts), slog.Time("next", s.policy.due), slog.Any("error", err))
		return
	}
	s.cfg.Log.InfoContext(ctx, "trust: the TLS policy was published")
}

// publishPolicy is called with the mutex held, and with a policy to publish.
func (s *Publisher) publishPolicy(ctx context.Context) error {
	err := s.change(ctx, func(h *history, now time.Time) {
		p := s.policy.policy
		if before := h.Policy; before != nil && !samePolicy(*before, p) {
			h.Hosts = s.cfg.Hosts
			s.changePolicy(h, *before, p, now)
		}
		h.Policy = &p
	})
	if err == nil {
		s.policy = nil
		return nil
	}
	s.policy.attempts++
	s.policy.due = s.cfg.Clock.Now().Add(announce.Gap(s.policy.attempts))
	return err
}

// changePolicy makes p the present policy.
func (s *Publisher) changePolicy(h *history, before, p v1.TLSPolicy, now time.Time) {
	c := s.begin(id.PolicyChange, "policy", now)
	c.Status = done
	delta := v1.TLSPolicyChange{
		Object: v1.TLSPolicyChangeObjectTLSPolicy, Change: c.ID, EffectiveAt: v1.Time{Time: now}, Hosts: h.Hosts,
		Previous: before, Current: p,
		Added: without(p, before), Removed: without(before, p),
	}
	s.describePolicy(c, delta, now)
	h.Past = append(h.Past, *c)
	s.enqueue(h, v1.EventTypeTLSCipherPolicyChanged, c.ID, now, delta)
}

func sorted(p v1.TLSPolicy) v1.TLSPolicy { return without(p, v1.TLSPolicy{}) }

func samePolicy(a, b v1.TLSPolicy) bool {
	return slices.Equal(a.Versions, b.Versions) && slices.Equal(a.CipherSuites, b.CipherSuites) &&
		slices.Equal(a.SignatureAlgorithms, b.SignatureAlgorithms)
}

// without returns the parts of a that b lacks.
func without(a, b v1.TLSPolicy) v1.TLSPolicy {
	return v1.TLSPolicy{
		Versions: difference(a.Versions, b.Versions), CipherSuites: difference(a.CipherSuites, b.CipherSuites),
		SignatureAlgorithms: difference(a.SignatureAlgorithms, b.SignatureAlgorithms),
	}
}

func difference(a, b []string) []string {
	out := slices.Concat([]string{}, a)
	out = slices.DeleteFunc(out, func(s string) bool { return slices.Contains(b, s) })
	slices.Sort(out)
	return slices.Compact(out)
}
