package crashtest

import (
	"strings"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// tokensAreRight wants each token to be there once and to be used once, by what was acknowledged, and its security code to be gone with that.
func (j *judge) tokensAreRight() error {
	stored, err := j.shelf.tokens(j.ctx, j.since)
	if err != nil {
		return err
	}
	byHolder := map[string][]string{}
	byID := map[string]storedToken{}
	for _, t := range stored {
		name := id.Format(id.Token, t.id)
		byHolder[t.holder] = append(byHolder[t.holder], name)
		byID[name] = t
		if t.hasCVC != (t.hadCVC && t.usedBy == 0) {
			j.failf("%s was used: %v; its security code is there: %v", name, t.usedBy != 0, t.hasCVC)
		}
	}
	used, tried := j.uses()
	for _, c := range j.calls {
		if c.Kind != TokenCreate {
			continue
		}
		j.once(c, byHolder[c.Marker])
		if !c.ok() {
			continue
		}
		name := c.Answer.id()
		t, n := byID[name], used[name]
		switch {
		case n > 1:
			j.failf("token %s (%s) was used %d times", c.Marker, name, n)
		case n == 1 && t.usedBy == 0:
			j.failf("token %s (%s) was used, and can be used again", c.Marker, name)
		case n == 0 && t.usedBy != 0 && !tried[name] && !t.hadCVC:
			j.failf("token %s (%s) is used up by nothing", c.Marker, name)
		}
	}
	return nil
}

// uses counts, by token, what was acknowledged and drew on it, and tells which tokens an unanswered request drew on.
func (j *judge) uses() (used map[string]int, tried map[string]bool) {
	used, tried = map[string]int{}, map[string]bool{}
	for _, c := range j.calls {
		if c.Kind != Create && c.Kind != MethodAttach {
			continue
		}
		_, rest, found := strings.Cut(c.Body, `"tok_`)
		if !found {
			continue
		}
		number, _, _ := strings.Cut(rest, "_") // the value's secret part stands behind it
		switch {
		case c.ok() || c.Answer != nil && c.Answer.Status == 402:
			used["tok_"+number]++
		case c.maybe():
			tried["tok_"+number] = true
		}
	}
	for _, t := range j.transactions { // one that failed for want of a key has used its token, too
		if t.Status == v1.TransactionStatusFailed {
			tried[t.PaymentMethod] = true
		}
	}
	return used, tried
}
