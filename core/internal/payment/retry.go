package payment

import (
	"slices"
	"time"
)

// RetryMemory is how long a decline limits further attempts at a card.
const RetryMemory = 30 * 24 * time.Hour

// RetryLimit is the greatest number of attempts within a time. It counts declined attempts and
// attempts without an outcome, since the last approval.
type RetryLimit struct {
	Most   int
	Within time.Duration
}

// RetryRule is a card network's rule for attempts at a card after a decline. The networks charge
// for each attempt beyond it.
type RetryRule struct {
	Brand string // v1's name of the network
	// A decline with one of these codes (ISO 8583 field 39) or advices ends all attempts.
	NeverCodes, NeverAdvices []string
	Limits                   []RetryLimit
	Source                   string
}

// retryRules are the rules of the networks. Visa also gives the category of a decline as its
// advice. The networks count per amount, merchant and card. The limits here hold for all amounts,
// so that another amount is no way around them.
var retryRules = []RetryRule{
	{
		Brand:        "visa",
		NeverCodes:   []string{"04", "07", "12", "14", "15", "41", "43", "46", "57", "R0", "R1", "R3"},
		NeverAdvices: []string{"1"},
		Limits:       []RetryLimit{{Most: 20, Within: RetryMemory}},
		Source:       "Visa Excessive Reattempts; developers.tabapay.com/docs/excessive-retry-rules",
	},
	{
		Brand:        "mastercard",
		NeverAdvices: []string{"03", "21"},
		Limits:       []RetryLimit{{Most: 10, Within: 24 * time.Hour}, {Most: 35, Within: RetryMemory}},
		Source:       "Mastercard Transaction Processing Excellence; developers.tabapay.com/docs/excessive-retry-rules",
	},
}

// RetryRules returns the rules of all networks.
func RetryRules() []RetryRule { return slices.Clone(retryRules) }

// RetryRuleOf returns the rule of a network, by v1's name; false if it has none.
func RetryRuleOf(brand string) (RetryRule, bool) {
	i := slices.IndexFunc(retryRules, func(r RetryRule) bool { return r.Brand == brand })
	if i < 0 {
		return RetryRule{}, false
	}
	return retryRules[i], true
}

// Forbids reports whether a decline ends all attempts.
func (r RetryRule) Forbids(code, advice string) bool {
	return slices.Contains(r.NeverCodes, code) || slices.Contains(r.NeverAdvices, advice)
}

// CardAttempt is an attempt at a card, after a decline or declined itself.
type CardAttempt struct {
	At    time.Time
	Never bool // its decline ends all attempts
}

// Allows reports whether another attempt may be made now. Attempts that are older than RetryMemory
// do not count.
func (r RetryRule) Allows(attempts []CardAttempt, now time.Time) bool {
	within := func(d time.Duration, a CardAttempt) bool { return a.At.After(now.Add(-d)) }
	if slices.ContainsFunc(attempts, func(a CardAttempt) bool { return a.Never && within(RetryMemory, a) }) {
		return false
	}
	for _, limit := range r.Limits {
		n := 0
		for _, a := range attempts {
			if within(limit.Within, a) {
				n++
			}
		}
		if n >= limit.Most {
			return false
		}
	}
	return true
}

// LimitedCard is a card of live mode whose network has a rule. The zero LimitedCard has none.
type LimitedCard struct {
	Fingerprint string
	Rule        RetryRule
}

// Limited reports whether a rule limits the attempts at the card.
func (c LimitedCard) Limited() bool { return c.Fingerprint != "" }
