package simulator

import (
	"slices"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestCard is an entry of the catalogue, for documentation. Its number is a published test number,
// not a secret.
type TestCard struct {
	PaymentMethod string // pm_card_…, or empty if only the card's number selects it
	Number        string // digits
	Brand         string // a card brand of the v1 contract
	Approved      bool
	DeclineCode   string        // of the v1 contract; empty when approved
	ResponseCode  string        // ISO 8583 field 39; "00" when approved
	Behaviour     string        // none, slow, timeout_before, timeout_after, late or unavailable
	Delay         time.Duration // of a behaviour that waits
}

func (e cardEntry) testCard() TestCard {
	t := TestCard{
		PaymentMethod: e.PaymentMethod,
		Number:        e.Number,
		Brand:         e.Brand,
		Approved:      e.Outcome == "approve",
		DeclineCode:   e.Decline.DeclineCode,
		ResponseCode:  e.Decline.ResponseCode,
		Behaviour:     e.Behaviour,
		Delay:         time.Duration(e.DelayMS) * time.Millisecond,
	}
	if t.Approved {
		t.ResponseCode = "00"
	}
	if t.Behaviour == "" {
		t.Behaviour = "none"
	}
	return t
}

// DefaultPaymentMethod returns the fixture that `payment_method: "card"` without a card means in
// test mode.
func (s *Simulator) DefaultPaymentMethod() string { return s.catalogue.defaultPaymentMethod }

// Fixture returns the card of a test payment method such as pm_card_visa. It has no CVC, and
// expires in December of a year ahead of the clock. The second result is false if the catalogue
// does not have the name.
func (s *Simulator) Fixture(paymentMethod string) (acquirer.Card, bool) {
	number, ok := s.catalogue.numbers[paymentMethod]
	if !ok {
		return acquirer.Card{}, false
	}
	year := s.clock.Now().UTC().Year() + s.catalogue.fixtureYears
	return acquirer.Card{Number: secret.New(number), ExpMonth: int(time.December), ExpYear: year}, true
}

// Fixtures lists the catalogue's cards in its order. The caller may change the slice.
func (s *Simulator) Fixtures() []TestCard { return slices.Clone(s.catalogue.testCards) }
