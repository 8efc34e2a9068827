package simulator

import (
	"context"
	"fmt"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
)

// Credit implements acquirer.Acquirer. A test card's outcome and behaviour apply as in Authorize,
// and so do the catalogue's refusals of a refund.
func (s *Simulator) Credit(ctx context.Context, r acquirer.Credit) (acquirer.Response, error) {
	return s.disturb(ctx, "credit", func(ctx context.Context, late bool) (acquirer.Response, error) {
		return s.credit(ctx, r, late)
	})
}

func (s *Simulator) credit(ctx context.Context, r acquirer.Credit, late bool) (acquirer.Response, error) {
	id, err := identify(r.Reference)
	if err != nil {
		return acquirer.Response{}, err
	}
	card := s.catalogue.cards[asCard(r.Source).Number.Reveal()]
	if response, ok, err := s.recall(id, credit, card); ok || err != nil {
		return response, err
	}
	if err := card.hold(ctx); err != nil {
		return acquirer.Response{}, err
	}
	rec := record{
		kind: credit, amount: r.Amount, network: networkOfSource(r.Source),
		verdict: firstDecline(card.verdict, s.judgePayee(r), s.catalogue.refusals[step{refund, r.Amount}]),
	}
	response, err := s.commit(effect{id: id, reference: r.Reference, late: late, record: rec})
	if err == nil && card.behaviour == timeoutAfter {
		wait(ctx, card.delay)
		return acquirer.Response{}, fmt.Errorf("simulator: credit: %w", acquirer.ErrUnknown)
	}
	return response, err
}

// judgePayee checks the payee's account. The limit on debits does not apply to credits.
func (s *Simulator) judgePayee(r acquirer.Credit) verdict {
	if !r.BankAccount.Number.IsZero() {
		return s.judgeBankAccount(r.BankAccount, 0)
	}
	return s.judgeCard(asCard(r.Source), s.clock.Now())
}
