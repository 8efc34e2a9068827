package simulator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	pan "github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// behaviour is when and whether a card's response arrives. The zero value responds immediately.
type behaviour string

const (
	respondsAtOnce behaviour = ""
	slow           behaviour = "slow"
	timeoutBefore  behaviour = "timeout_before"
	timeoutAfter   behaviour = "timeout_after"
	late           behaviour = "late"
	outage         behaviour = "unavailable"
)

// card is the rule of a card number. The zero value approves.
type card struct {
	verdict   verdict
	cvc       check // the result for every CVC; 0 leaves it to the CVC
	behaviour behaviour
	delay     time.Duration
	effect    time.Duration // of late: from the request until it arrives
}

// hold carries out the part of a card's behaviour before the effect. With an error, the request has
// no effect.
func (c card) hold(ctx context.Context) error {
	if err := live(ctx); err != nil {
		return err
	}
	switch c.behaviour {
	case outage:
		return fmt.Errorf("simulator: authorize: %w", acquirer.ErrUnavailable)
	case timeoutBefore:
		wait(ctx, c.delay)
		return fmt.Errorf("simulator: authorize: %w", acquirer.ErrUnknown)
	case slow:
		wait(ctx, c.delay)
		return live(ctx)
	case respondsAtOnce, timeoutAfter, late:
	}
	return nil
}

// loses reports whether the response never reaches the caller.
func (c card) loses() bool { return c.behaviour == timeoutAfter || c.behaviour == late }

// addCards takes the cards of the document, and makes the list of test cards.
func (c *catalogue) addCards(doc document) error {
	var errs []error
	for i, entry := range doc.Cards {
		card, err := entry.card()
		if _, twice := c.cards[entry.Number]; twice {
			err = errors.Join(err, errors.New("number: an earlier card has this number: choose another one"))
		}
		if _, twice := c.numbers[entry.PaymentMethod]; twice {
			err = errors.Join(err, fmt.Errorf("payment_method: an earlier card has %q: choose another one", entry.PaymentMethod))
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("cards, entry %d (%s): %w", i+1, entry.PaymentMethod, err))
		}
		c.cards[entry.Number] = card
		if entry.PaymentMethod != "" {
			c.numbers[entry.PaymentMethod] = entry.Number
		}
		c.testCards = append(c.testCards, entry.testCard())
	}
	return errors.Join(errs...)
}

func (e cardEntry) card() (card, error) {
	var errs []error
	if !pan.Valid(secret.New(e.Number)) {
		errs = append(errs, errors.New("number: want 12 to 19 digits with a correct check digit"))
	}
	if !v1.CardBrand(e.Brand).Valid() || e.Brand == string(v1.CardBrandUnknown) {
		errs = append(errs, fmt.Errorf("brand: %q is not a brand of the contract", e.Brand))
	}
	c := card{
		behaviour: behaviour(e.Behaviour), delay: time.Duration(e.DelayMS) * time.Millisecond, effect: time.Duration(e.EffectMS) * time.Millisecond,
	}
	var err error
	if e.CVCCheck != "" {
		c.cvc, err = parseCheck(e.CVCCheck)
		errs = append(errs, err)
	}
	c.verdict, err = e.verdict()
	errs = append(errs, err)
	return c, errors.Join(append(errs, e.checkBehaviour(), e.checkName())...)
}

func (e cardEntry) verdict() (verdict, error) {
	switch e.Outcome {
	case "approve":
		if e.Decline != (declineEntry{}) {
			return approved, errors.New("outcome: an approved card has no decline_code or response_code")
		}
		return approved, nil
	case "decline":
		return newVerdict(e.Decline.DeclineCode, e.Decline.ResponseCode)
	}
	return approved, fmt.Errorf("outcome: %q: want approve or decline", e.Outcome)
}

func (e cardEntry) checkBehaviour() error {
	const longest, latest = 600_000, 86_400_000
	waits := false
	switch behaviour(e.Behaviour) {
	case slow, timeoutBefore, timeoutAfter, late:
		waits = true
	case "", "none", outage:
	default:
		return fmt.Errorf("behaviour: %q: want none, slow, timeout_before, timeout_after, late or unavailable", e.Behaviour)
	}
	switch isLate := behaviour(e.Behaviour) == late; {
	case waits && (e.DelayMS < 1 || e.DelayMS > longest):
		return fmt.Errorf("delay_ms: %d: want 1 to %d with the behaviour %s", e.DelayMS, longest, e.Behaviour)
	case !waits && e.DelayMS != 0:
		return fmt.Errorf("delay_ms: %d: want 0, unless the behaviour is slow, timeout_before, timeout_after or late", e.DelayMS)
	case isLate && (e.EffectMS < 1 || e.EffectMS > latest):
		return fmt.Errorf("effect_ms: %d: want 1 to %d with the behaviour late", e.EffectMS, latest)
	case !isLate && e.EffectMS != 0:
		return fmt.Errorf("effect_ms: %d: want 0, unless the behaviour is late", e.EffectMS)
	}
	return nil
}

func (e cardEntry) checkName() error {
	const prefix = "pm_card_"
	if e.PaymentMethod == "" {
		return nil
	}
	if len(e.PaymentMethod) <= len(prefix) || e.PaymentMethod[:len(prefix)] != prefix {
		return fmt.Errorf("payment_method: %q: want %s and a name", e.PaymentMethod, prefix)
	}
	return nil
}
