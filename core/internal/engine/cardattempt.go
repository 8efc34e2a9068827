package engine

import (
	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// limitedCard returns the card of a transaction of live mode, or its network token, if the network
// limits the attempts after a decline. Test mode has no limits.
func limitedCard(t *payment.Transaction) payment.LimitedCard {
	if !t.Tenant.Live {
		return payment.LimitedCard{}
	}
	type source struct {
		Brand       string `json:"brand"`
		Fingerprint string `json:"fingerprint"`
	}
	var d struct {
		Card         source `json:"card"`
		NetworkToken source `json:"network_token"`
	}
	if json.Unmarshal(t.Details, &d) != nil {
		return payment.LimitedCard{} // not the details of an object of the contract
	}
	for _, s := range []source{d.Card, d.NetworkToken} {
		if rule, known := payment.RetryRuleOf(s.Brand); known && s.Fingerprint != "" {
			return payment.LimitedCard{Fingerprint: s.Fingerprint, Rule: rule}
		}
	}
	return payment.LimitedCard{}
}

// endCardAttempt ends the attempt at the card. A decline by the network counts. A payment that was
// approved ends the count, and a card that was only verified does not.
func (s *authorizationStep) endCardAttempt(tx *store.Tx, a acquirer.Response) error {
	card := limitedCard(s.t)
	switch {
	case a.Approved && s.t.Amount > 0:
		return tx.ForgetCardAttempts(s.t, card)
	case a.Network.Given:
		return tx.KeepCardAttempt(s.t, card, card.Rule.Forbids(a.Network.Code, a.Network.Advice))
	}
	return tx.WithdrawCardAttempt(s.t, card)
}
