package providera_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/acquirer/providera"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// chargesHere returns the payments in the store, by their names.
func (r *plantedRound) chargesHere(t *testing.T) map[string][]providera.Charge {
	t.Helper()
	rows, err := r.Inspect.QueryContext(t.Context(), `SELECT id, status, details, amount_authorized, amount_captured,
		amount_refunded FROM transactions`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // read to its end
	out := map[string][]providera.Charge{}
	for rows.Next() {
		var (
			number  int64
			details string
			c       providera.Charge
			of      struct {
				Reference string `json:"reference"`
			}
		)
		if err := rows.Scan(&number, &c.Status, &details, &c.Authorized, &c.Captured, &c.Refunded); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(details), &of); err != nil {
			t.Fatal(err)
		}
		switch payment.Status(c.Status) {
		case payment.Voided, payment.Declined, payment.Failed, payment.Unknown, payment.Processing:
			c.Money = providera.Money{}
		default:
		}
		c.In = id.Format(id.Transaction, number)
		out[of.Reference] = append(out[of.Reference], c)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// listed returns the kinds of the steps that wait for an operator, by the id of their transaction.
func (r *plantedRound) listed(t *testing.T) map[string]payment.StepKind {
	t.Helper()
	all, err := r.DB.UnfinishedSteps(t.Context(), payment.UnfinishedFilter{}, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]payment.StepKind{}
	for _, u := range all {
		out[id.Format(id.Transaction, u.Transaction)] = u.Kind()
	}
	return out
}

// judge compares the records of both hosts with the store and with the clients' outcomes.
func (r *plantedRound) judge(t *testing.T) {
	t.Helper()
	there, here, listed := r.hosts.Charges(), r.chargesHere(t), r.listed(t)
	for _, x := range r.all {
		for _, wrong := range r.faults(x, there[x.name], here[x.name], listed) {
			t.Errorf("%s %v: %s; at the hosts %+v; here %+v; %s", x.name, x.plan, wrong,
				there[x.name], here[x.name], x.history())
		}
		delete(there, x.name)
		delete(here, x.name)
	}
	for name := range there {
		t.Errorf("a host has a payment that no client has made: %q", name)
	}
	for name := range here {
		t.Errorf("the store has a payment that no client has made: %q", name)
	}
}

// faults returns the faults of a payment.
func (r *plantedRound) faults(
	x *plantedPayment, there, here []providera.Charge, listed map[string]payment.StepKind,
) (wrong []string) {
	held, has := standing(there), standing(here)
	if len(held) > 1 {
		wrong = append(wrong, "charged twice")
	}
	if len(has) > 1 {
		wrong = append(wrong, "two payments stand in the store")
	}
	if len(there) > 1 {
		r.hosts.Count("payments with several records at the hosts")
	}
	if x.lost(has) {
		wrong = append(wrong, "an acknowledged payment is lost")
	}
	kind := listedOf(here, listed)
	for _, c := range x.calls {
		switch {
		case c.unknown && kind == "":
			r.hosts.Count("unknown calls of clients: resolved")
		case c.unknown:
			r.hosts.Count("unknown calls of clients: listed for an operator")
		}
	}
	switch {
	case kind == payment.AuthorizeStep && len(held) > 0:
		return append(wrong, "recovery has not found the charge")
	case kind != "":
		r.hosts.Count("listed for an operator: " + string(kind))
		return wrong
	}
	if total(held) != total(has) {
		wrong = append(wrong, "the money differs")
	}
	return append(wrong, x.unkept(there, has)...)
}

// listedOf returns the kind of a payment's step that waits for an operator, "" for none.
func listedOf(here []providera.Charge, listed map[string]payment.StepKind) payment.StepKind {
	for _, c := range here {
		if kind, waits := listed[c.In]; waits {
			return kind
		}
	}
	return ""
}

// lost reports whether the client has a payment that does not stand, although no void was sent.
func (x *plantedPayment) lost(has []providera.Charge) bool {
	voids := slices.ContainsFunc(x.calls, func(c *plantedCall) bool { return c.step == "void" })
	return x.calls[0].acknowledged() && !voids && len(has) == 0
}

func standing(all []providera.Charge) (out []providera.Charge) {
	for _, c := range all {
		if c.Money != (providera.Money{}) {
			out = append(out, c)
		}
	}
	return out
}

func total(all []providera.Charge) (sum providera.Money) {
	for _, c := range all {
		sum.Authorized += c.Authorized
		sum.Captured += c.Captured
		sum.Refunded += c.Refunded
	}
	return sum
}

// unkept compares the outcomes that the client has with the money. A declined payment was never at
// a host, except if that released it.
func (x *plantedPayment) unkept(there, has []providera.Charge) (wrong []string) {
	var want providera.Money
	for _, c := range x.calls {
		switch {
		case !c.done:
			return nil
		case !c.acknowledged():
			continue
		}
		switch c.step {
		case "pay":
			want.Authorized = x.sum
			if x.plan[0] == "automatic" {
				want.Captured = x.sum
			}
		case "capture":
			want.Captured = x.sum
		case "part":
			want.Captured = 500
		case "refund":
			want.Refunded = 250
		case "void":
			want = providera.Money{}
		}
	}
	if got := total(has); got != want {
		wrong = append(wrong, fmt.Sprintf("the client has %+v", want))
	}
	if first := x.calls[0]; first.status == http.StatusPaymentRequired && len(standing(there)) > 0 {
		wrong = append(wrong, "a declined payment is at a host")
	}
	return wrong
}

// history returns the outcomes of the calls.
func (x *plantedPayment) history() string {
	var out []string
	for _, c := range x.calls {
		out = append(out, fmt.Sprintf("%s: %d %.300s", c.step, c.status, c.response))
	}
	return strings.Join(out, "; ")
}
