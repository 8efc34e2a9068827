package simulator

import (
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	pan "github.com/causeway-pay/causeway/shared/card"
)

// judge decides an authorization only by the catalogue.
func (s *Simulator) judge(r acquirer.Authorize, c card) record {
	now := s.clock.Now()
	if r.PriorCode != "" {
		return s.judgePrior(r, now)
	}
	cvc := s.judgeCVC(r.Card, c)
	address := s.judgeAddress(r.Billing)
	rec := record{
		kind:    authorize,
		amount:  r.Amount,
		network: networkOfSource(r.Source),
		checks:  checks{cvc.check, address.addressLine, address.postalCode},
		codes:   codes{cvc: cvc.code},
		verdict: firstDecline(c.verdict, s.judgeSource(r, now), cvc.verdict, address.verdict),
	}
	if rec.network != noNetwork {
		rec.codes.avs = address.code
		s.judgeFunds(&rec, r, address)
	}
	if !r.ThreeDSecure.CAVV.IsZero() {
		rec.codes.cavv = s.catalogue.cavvCode
	}
	if c.effect > 0 {
		rec.arrives = now.Add(c.effect).UnixMilli()
	}
	if !r.Capture {
		rec.expires = now.Add(s.catalogue.authorization).UnixMilli()
	}
	return rec
}

// judgePrior records an approval that the issuer gave before. The issuer gets no request, so
// neither the card's outcome nor any check applies.
func (s *Simulator) judgePrior(r acquirer.Authorize, now time.Time) record {
	rec := record{kind: authorize, amount: r.Amount, verdict: s.judgeSource(r, now), checks: checks{notProvided, notProvided, notProvided}}
	for i, given := range []bool{!r.Card.CVC.IsZero(), r.Billing.AddressLine != "", r.Billing.PostalCode != ""} {
		if given {
			rec.checks[i] = notProcessed
		}
	}
	copy(rec.prior[:], r.PriorCode)
	return rec
}

// judgeFunds approves at most the funds of the card, which the postal code selects. It declines if
// the payment does not accept such a part.
func (s *Simulator) judgeFunds(rec *record, r acquirer.Authorize, rule postalRule) {
	if rule.approve > 0 {
		rec.amount = min(r.Amount, rule.approve)
	}
	if rec.amount < r.Amount && !r.Partial {
		rec.verdict = firstDecline(rec.verdict, s.catalogue.tooLittle)
	}
	rec.balance = rule.balance
}

// judgeSource judges the payment source, without the outcome of a test card.
func (s *Simulator) judgeSource(r acquirer.Authorize, now time.Time) verdict {
	if !r.BankAccount.Number.IsZero() {
		return s.judgeBankAccount(r.BankAccount, r.Amount)
	}
	return s.judgeCard(asCard(r.Source), now)
}

// asCard treats a network token like a card of its number, as an issuer does after the network has
// replaced the token by the card.
func asCard(s acquirer.Source) acquirer.Card {
	if t := s.NetworkToken; !t.Number.IsZero() {
		return acquirer.Card{Number: t.Number, ExpMonth: t.ExpMonth, ExpYear: t.ExpYear}
	}
	return s.Card
}

func (s *Simulator) judgeCard(c acquirer.Card, now time.Time) verdict {
	if !pan.Valid(c.Number) {
		return s.catalogue.invalidNumber
	}
	if c.ExpMonth == 0 && c.ExpYear == 0 {
		return approved
	}
	// Half a day more, because a card is good until its month is over everywhere.
	end := time.Date(c.ExpYear, time.Month(c.ExpMonth)+1, 1, 12, 0, 0, 0, time.UTC)
	if !now.Before(end) {
		return s.catalogue.expired
	}
	return approved
}

func (s *Simulator) judgeCVC(given acquirer.Card, c card) cvcRule {
	rule := cvcRule{check: notProvided}
	if !given.CVC.IsZero() {
		var ok bool
		if rule, ok = s.catalogue.cvcs[given.CVC.Reveal()]; !ok {
			rule = s.catalogue.otherCVC
		}
	}
	if c.cvc != 0 {
		rule.check, rule.code = c.cvc, cvcCodes[c.cvc]
	}
	return rule
}

func (s *Simulator) judgeAddress(b acquirer.Billing) postalRule {
	if rule, ok := s.catalogue.postalCodes[b.PostalCode]; ok {
		return rule
	}
	rule := postalRule{addressLine: given(b.AddressLine), postalCode: given(b.PostalCode)}
	if b.AddressLine != "" || b.PostalCode != "" {
		rule.code = s.catalogue.avsCode
	}
	return rule
}

// cvcCodes are the networks' codes of the results that a card has for every security code.
var cvcCodes = map[check]byte{match: 'M', noMatch: 'N', notProcessed: 'P', unavailable: 'U'}

func given(s string) check {
	if s == "" {
		return notProvided
	}
	return match
}

func firstDecline(verdicts ...verdict) verdict {
	for _, v := range verdicts {
		if v != approved {
			return v
		}
	}
	return approved
}
