package crash

import (
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// tokensAreRight requires each token to be there once and to be used once, by an acknowledged
// request. After that its security code must be gone. Two files hold a token and its code. A kill
// between their commits leaves an unused token without its code; core refuses it.
func (j *judge) tokensAreRight() {
	byHolder, cut := map[string][]string{}, j.cutTokens()
	byID := map[string]storedToken{}
	for _, t := range j.store.tokens(j.since) {
		name := id.Format(id.Token, t.id)
		byHolder[t.holder] = append(byHolder[t.holder], name)
		byID[name] = t
		lost := t.hadCVC && !t.hasCVC && t.usedBy == 0 && (cut[t.holder] || cut[name])
		if t.hasCVC != (t.hadCVC && t.usedBy == 0) && !lost {
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
		name := c.Response.id()
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
}

// cutTokens returns the holders of tokens whose first response was lost in a kill. It also returns
// the ids of tokens in requests whose response was lost: such a request may have returned its
// token.
func (j *judge) cutTokens() map[string]bool {
	cut := map[string]bool{}
	for _, c := range j.calls {
		if !c.Lost {
			continue
		}
		if c.Kind == TokenCreate {
			cut[c.Marker] = true
		} else if name := c.token(); name != "" {
			cut[name] = true
		}
	}
	return cut
}

// uses counts the acknowledged requests that drew on each token, and returns the tokens of
// requests without a response.
func (j *judge) uses() (used map[string]int, tried map[string]bool) {
	used, tried = map[string]int{}, map[string]bool{}
	for _, c := range j.calls {
		if c.Kind != Create && c.Kind != MethodAttach {
			continue
		}
		name := c.token()
		if name == "" {
			continue
		}
		switch {
		case c.ok() || c.Response != nil && c.Response.Status == 402:
			used[name]++
		case c.maybe():
			tried[name] = true
		}
	}
	for _, t := range j.transactions { // a payment that failed for lack of a key has used its token, too
		if t.Status == v1.TransactionStatusFailed {
			tried[t.PaymentMethod] = true
		}
	}
	return used, tried
}
