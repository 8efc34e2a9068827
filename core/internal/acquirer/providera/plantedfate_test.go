package providera

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	rules "github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// unreached is the fate of a request that no host gets: the connection is refused.
const unreached fate = "refused connection"

// proofs are the fates that prove that a request had no effect. Only they and a soft decline allow
// a failover.
var proofs = []fate{unreached, barred}

// unknowns are the fates after which the outcome is unknown, by their effect for the report.
var unknowns = map[fate]string{
	lost: "without effect", gateway: "without effect", busy: "without effect", faulty: "without effect",
	unheard: "with effect", truncated: "with effect", garbled: "with effect", failing: "with effect",
	empty: "with effect", misnumber: "with effect", relayed: "with effect", timedOut: "with effect",
	late: "with a late effect", oversized: "with effect", slow: "with effect",
}

// rare are unknowns that cost much, so that few are drawn.
var rare = []fate{oversized, slow}

// common are all others, in a fixed order for the seed. A late effect has three shares: few faults
// of recovery show without one, and a short run must meet some at each host.
var common = sync.OnceValue(func() []fate {
	all := slices.DeleteFunc(slices.Sorted(maps.Keys(unknowns)), func(f fate) bool { return slices.Contains(rare, f) })
	return append(all, late, late)
})

// fates draw the fate of each request by the seed, the host, the payment and the number of the
// request. It does not depend on the order of other payments' requests.
type fates struct {
	seed uint64

	mu     sync.Mutex
	met    map[string]int  // requests so far
	last   map[string]fate // of the last payment request, by host and payment
	counts map[string]int  // for the report
	soft   map[string]bool // the last decline was soft, by host and payment
	calm   bool            // all requests pass
}

func newFates(seed uint64) *fates {
	return &fates{
		seed: seed, met: map[string]int{}, last: map[string]fate{}, counts: map[string]int{}, soft: map[string]bool{},
	}
}

// Random returns the random numbers of a name.
func (f *fates) Random(name string) *rand.Rand {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(name)) // a hash takes all
	return rand.New(rand.NewPCG(f.seed, sum.Sum64()))
}

// Count counts something for the report.
func (f *fates) Count(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[what]++
}

// draw returns the random numbers of the next request of a name, and how many came before.
func (f *fates) draw(name string) (r *rand.Rand, before int, calm bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before = f.met[name]
	f.met[name]++
	return f.Random(fmt.Sprint(name, " ", before)), before, f.calm
}

// fateAt is the name of a fate in the report.
func fateAt(host string, f fate) string {
	return "fate at " + host + ": " + cmp.Or(string(f), "approved")
}

// pay draws the fate of a payment request. Most retries pass.
func (f *fates) pay(host, name string) fate {
	r, before, calm := f.draw("pay " + host + " " + name)
	drawn := passes
	switch n := r.IntN(1000); {
	case calm || before > 0 && r.IntN(4) > 0 || n < 550:
	case n < 650:
		drawn = denied
	case n < 770:
		drawn = proofs[r.IntN(len(proofs))]
	case n == 999 && r.IntN(10) == 0 && programtest.Soak():
		drawn = slow // for as long as an attempt lasts
	case n == 998:
		drawn = oversized
	default:
		drawn = common()[r.IntN(len(common()))]
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last[host+" "+name] = drawn
	if effect, unknown := unknowns[drawn]; unknown {
		f.counts["unknown payments "+effect]++
	}
	f.counts[fateAt(host, drawn)]++
	return drawn
}

// lastOf returns the fate of the last payment request to a host, and false if there was none.
func (f *fates) lastOf(host, name string) (fate, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	is, known := f.last[host+" "+name]
	return is, known
}

// softly reports whether the last decline of a payment by a host was soft.
func (f *fates) softly(host, name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.soft[host+" "+name]
}

// step draws the fate of any other request.
func (f *fates) step(host, name string) fate {
	r, _, calm := f.draw("step " + host + " " + name)
	kinds := []fate{lost, unheard, truncated, gateway, relayed, timedOut, busy, faulty, barred}
	if n := r.IntN(10 * len(kinds)); !calm && n < len(kinds) {
		f.Count("lost or refused steps")
		return kinds[n]
	}
	return passes
}

// declinesA are provider-a's reasons of declines, by their class for the retries of a card.
var declinesA = sync.OnceValue(func() map[string][]string {
	visa, _ := rules.RetryRuleOf("visa")
	out := map[string][]string{}
	for _, code := range slices.Sorted(maps.Keys(reasons)) {
		v := reasons[code]
		class := "retry-limited"
		switch {
		case v.class != declined || code == reasonVoided || code == reasonCaptured:
			continue
		case visa.Forbids(v.network().Code, ""):
			class = "final"
		case v.response == isoUnreachable || v.response == isoSystem:
			class = "soft"
		case v.response == isoFormat || v.response == isoInvalid || v.response == isoAmount || v.response == isoNotFound:
			class = "not processed"
		}
		out[class] = append(out[class], fmt.Sprint(code))
	}
	return out
})

// declinesB are provider-b's declines of each class.
var declinesB = map[string][]declineB{
	"final": {
		{201, "STOLEN_LOST_CARD", "43", ""},
		{201, "STOLEN_LOST_CARD", "", ""},
		{201, "INVALID_ACCOUNT", "14", ""},
		{201, "PROCESSOR_DECLINED", "05", "1"},
		{201, "PROCESSOR_DECLINED", "05", "03"},
		{201, "GENERAL_DECLINE", "05", "21"},
	},
	"retry-limited": {
		{201, "INSUFFICIENT_FUND", "51", ""},
		{201, "EXPIRED_CARD", "54", "2"},
		{201, "CV_FAILED", "N7", ""},
		{201, "EXCEEDS_CREDIT_LIMIT", "61", "24"},
		{201, "CONTACT_PROCESSOR", "01", ""},
		{201, "AVS_FAILED", "", ""},
		{201, "SCORE_EXCEEDS_THRESHOLD", "", ""},
		{201, "CUSTOMER_AUTHENTICATION_REQUIRED", "", ""},
	},
	"soft": {{201, "ISSUER_UNAVAILABLE", "91", ""}, {201, "PROCESSOR_ERROR", "96", "02"}},
	"not processed": {
		{400, "INVALID_CARD", "", ""},
		{400, "INVALID_DATA", "", ""},
		{400, "CARD_TYPE_NOT_ACCEPTED", "", ""},
		{400, "MISSING_FIELD", "", ""},
		{400, "NOT_SUPPORTED", "", ""},
	},
}

// decline draws a decline of a payment: first the class, then the decline.
func decline[D any](f *fates, name string, of map[string][]D) D {
	r := f.Random("decline " + name)
	classes := slices.Sorted(maps.Keys(of))
	class := classes[r.IntN(len(classes))]
	f.Count("declined: " + class)
	f.mu.Lock()
	f.soft[name] = class == "soft"
	f.mu.Unlock()
	return of[class][r.IntN(len(of[class]))]
}

// attach makes the hosts follow the fates.
func (f *fates) attach(a *host, b *hostB) {
	a.fate = func(t transaction) fate {
		if t.Type == typeAuthorize || t.Type == typeSale {
			is, _ := f.lastOf("a", t.Order.Description)
			return is
		}
		return f.step("a", t.Type+" "+t.Original)
	}
	a.reason = func(t transaction) string { return decline(f, "a "+t.Order.Description, declinesA()) }
	b.fate = func(p *postB) fate {
		if p.pays() {
			is, _ := f.lastOf("b", p.Reference.Code)
			return is
		}
		return f.step("b", p.path+" "+p.Reference.TransactionID)
	}
	b.decline = func(p *postB) declineB { return decline(f, "b "+p.Reference.Code, declinesB) }
}

// plantedAccount is an account whose payments have fates.
type plantedAccount struct {
	acquirer.Acquirer

	t     *testing.T
	gone  acquirer.Acquirer // connects to a port without a listener
	fates *fates
	host  string
	after string // the host of the first account, "" if this is the first one
}

// Authorize implements acquirer.Acquirer.
func (a *plantedAccount) Authorize(ctx context.Context, r acquirer.Authorize) (acquirer.Response, error) {
	name := r.Order.Reference
	if a.after != "" {
		a.fates.Count("failovers")
		is, known := a.fates.lastOf(a.after, name)
		if soft := is == denied && a.fates.softly(a.after, name); soft {
			a.fates.Count("failovers after a soft decline")
		} else if !known || !slices.Contains(proofs, is) {
			a.t.Errorf("%s: a failover from %s without a proof, after %q", name, a.after, is)
		}
	}
	if a.fates.pay(a.host, name) == unreached {
		return a.gone.Authorize(ctx, r)
	}
	return a.Acquirer.Authorize(ctx, r)
}
