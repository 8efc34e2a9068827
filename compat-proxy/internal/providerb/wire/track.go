package wire

import (
	"regexp"

	"github.com/causeway-pay/causeway/shared/secret"
)

// trackForms are the two tracks of a magnetic stripe, with or without their sentinels: number, year
// and month. A value with both tracks begins with the first one.
var trackForms = []*regexp.Regexp{
	regexp.MustCompile(`^%?[Bb]([0-9]{12,19})\^[^^]{2,26}\^([0-9]{2})([0-9]{2})`),
	regexp.MustCompile(`(?:^|;)([0-9]{12,19})[=D]([0-9]{2})([0-9]{2})`),
}

// readTrack gives a request without a card number the card of its track. The rest of the track is
// not used.
func (r *Request) readTrack() {
	if !r.Payment.Card.Number.IsZero() {
		return
	}
	for _, form := range trackForms {
		if m := form.FindStringSubmatch(r.PointOfSale.TrackData.Reveal()); m != nil {
			card := &r.Payment.Card
			card.Number = Hidden{secret.New(m[1])}
			card.ExpirationYear, card.ExpirationMonth = Text(m[2]), Text(m[3])
			return
		}
	}
}
