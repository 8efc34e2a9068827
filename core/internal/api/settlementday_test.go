package api_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// payBy makes a sale by a test payment method.
func (b *bundle) payBy(t *testing.T, method string, amount int64) v1.Transaction {
	t.Helper()
	body := fmt.Sprintf(`{"amount":%d,"currency":"usd","payment_method":%q}`, amount, method)
	return MustDecode[v1.Transaction](t, b.post(t, "/v1/transactions", body), 201)
}

// days reads a list of settlement days.
func (b *bundle) days(t *testing.T, query string) v1.SettlementDayList {
	t.Helper()
	return MustDecode[v1.SettlementDayList](t, b.get(t, "/v1/settlement_days"+query), 200)
}

// inTotals returns the totals of a day in short.
func inTotals(d v1.SettlementDay) string {
	var out []string
	for _, total := range d.Totals {
		source := string(total.PaymentMethod)
		if total.CardBrand != nil {
			source = string(*total.CardBrand)
		}
		out = append(out, fmt.Sprintf("%s %s %d/%d %d/%d", total.Currency, source, total.Captures, total.AmountCaptured,
			total.Refunds, total.AmountRefunded))
	}
	return strings.Join(out, ", ")
}

// counts reads the number of objects of each list with a query.
func (b *bundle) counts(t *testing.T, query string) (captures, refunds int) {
	t.Helper()
	c := MustDecode[v1.CaptureList](t, b.get(t, "/v1/captures"+query), 200)
	r := MustDecode[v1.RefundList](t, b.get(t, "/v1/refunds"+query), 200)
	return len(c.Data), len(r.Data)
}

// listed reads the number of transactions of a list.
func (b *bundle) listed(t *testing.T, query string) int {
	t.Helper()
	return len(MustDecode[v1.TransactionList](t, b.get(t, "/v1/transactions"+query), 200).Data)
}

// TestSettlementDays: a day has the totals of its captures and refunds, and the lists of captures
// and refunds find them by the day. A day without any is not listed.
func TestSettlementDays(t *testing.T) {
	t.Parallel()
	b := setup(t) // 09:30 UTC
	visa := b.payBy(t, "pm_card_visa", 100)
	b.payBy(t, "pm_card_visa", 7)
	b.payBy(t, "pm_card_mastercard", 50)
	b.MustCreate(t, 100, manual)
	declined := b.post(t, "/v1/transactions", `{"amount":100,"currency":"usd","payment_method":"pm_card_declined"}`)
	if declined.status != 402 {
		t.Fatalf("declined: got %d", declined.status)
	}
	refund := MustDecode[v1.Refund](t, b.post(t, "/v1/refunds", `{"transaction":"`+visa.ID+`","amount":30}`), 201)
	if refund.Settlement != v1.SettlementPending || refund.SettlementDay != nil {
		t.Errorf("refund: got %s, %v, want pending", refund.Settlement, refund.SettlementDay)
	}
	b.wantPending(t)
	b.advance(t, 15*time.Hour)
	first := b.wantDay(t)
	settled := MustDecode[v1.Refund](t, b.get(t, "/v1/refunds/"+refund.ID), 200)
	if settled.Settlement != v1.SettlementSettled || v1.Text(settled.SettlementDay) != first.ID {
		t.Errorf("refund: got %s, %v, want settled in %s", settled.Settlement, settled.SettlementDay, first.ID)
	}
	b.wantFound(t, first.ID, visa.ID)
	b.advance(t, 48*time.Hour) // two days without settlement
	if got := b.days(t, ""); len(got.Data) != 1 || inTotals(got.Data[0]) != inTotals(first) {
		t.Errorf("two days later: got %+v", got)
	}
}

// wantPending checks the lists before the first day has ended.
func (b *bundle) wantPending(t *testing.T) {
	t.Helper()
	if got := b.days(t, ""); len(got.Data) != 0 {
		t.Errorf("before the first day has ended: got %+v", got)
	}
	if captures, refunds := b.counts(t, "?settlement=pending"); captures != 3 || refunds != 1 {
		t.Errorf("pending: got %d captures and %d refunds, want 3 and 1", captures, refunds)
	}
	for query, want := range map[string]int{
		"?settlement=pending": 3, "?settlement=none": 2, "?settlement=pending,none": 5, "?status=authorized,declined": 2,
		"?status=captured,authorized,declined&settlement=none": 2, "?settlement=settled": 0,
		"?settlement=pending&reference=x": 0, "?settlement_day=day_0000000000001": 0,
	} {
		if got := b.listed(t, query); got != want {
			t.Errorf("%s: got %d transactions, want %d", query, got, want)
		}
	}
}

// wantDay checks the first day, and returns it.
func (b *bundle) wantDay(t *testing.T) v1.SettlementDay {
	t.Helper()
	midnight := birth.Truncate(24 * time.Hour).Add(24 * time.Hour)
	days := b.days(t, "")
	if len(days.Data) != 1 || !days.Data[0].EndedAt.Equal(midnight) || days.Data[0].Mode != v1.ModeTest {
		t.Fatalf("after the day: got %+v, want one that ended at %s", days, midnight)
	}
	first := days.Data[0]
	if got, want := inTotals(first), "usd mastercard 1/50 0/0, usd visa 2/107 1/30"; got != want {
		t.Errorf("totals: got %s, want %s", got, want)
	}
	one := MustDecode[v1.SettlementDay](t, b.get(t, "/v1/settlement_days/"+first.ID), 200)
	if inTotals(one) != inTotals(first) || !one.EndedAt.Equal(midnight) {
		t.Errorf("by id: got %+v, want %+v", one, first)
	}
	return first
}

// wantFound checks the lists by the day, of which visa is one payment.
func (b *bundle) wantFound(t *testing.T, day, visa string) {
	t.Helper()
	for query, want := range map[string][2]int{
		"?settlement_day=" + day:                                              {3, 1},
		"?settlement_day=" + day + "&transaction=" + visa:                     {1, 1},
		"?settlement_day=day_0000000000001":                                   {0, 0},
		"?settlement_day=day_0000000000001&transaction=" + visa:               {0, 0},
		"?settlement_day=" + day + "&settlement=pending":                      {0, 0},
		"?settlement=pending":                                                 {0, 0},
		"?settlement=settled":                                                 {3, 1},
		"?settlement=none":                                                    {0, 0},
		"?settlement=settled&transaction=" + visa:                             {1, 1},
		"?settlement=settled&" + url.QueryEscape("metadata[order]") + "=none": {0, 0},
	} {
		if captures, refunds := b.counts(t, query); captures != want[0] || refunds != want[1] {
			t.Errorf("%s: got %d captures and %d refunds, want %v", query, captures, refunds, want)
		}
	}
	for query, want := range map[string]int{
		"?settlement_day=" + day: 3, "?settlement_day=day_0000000000001": 0, "?settlement_day=" + day + "&amount=50": 1,
		"?settlement_day=" + day + "&limit=1&ending_before=" + visa: 1, "?settlement=settled,pending": 3,
		"?settlement_day=" + day + "&starting_after=" + visa: 0,
	} {
		if got := b.listed(t, query); got != want {
			t.Errorf("%s: got %d transactions, want %d", query, got, want)
		}
	}
}

// TestPagesOfSettlementDays: the list is newest first, its cursors skip no day, and its filters
// exclude their moments.
func TestPagesOfSettlementDays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 3 {
		b.payBy(t, "pm_card_visa", 100)
		b.advance(t, 24*time.Hour)
	}
	all := b.days(t, "").Data
	if len(all) != 3 || !all[0].EndedAt.After(all[1].EndedAt.Time) || !all[1].EndedAt.After(all[2].EndedAt.Time) {
		t.Fatalf("got %+v, want three days", all)
	}
	for query, want := range map[string][]string{
		"?limit=1": {all[0].ID}, "?limit=2&starting_after=" + all[0].ID: {all[1].ID, all[2].ID},
		"?limit=1&ending_before=" + all[2].ID: {all[1].ID}, "?ending_before=" + all[2].ID: {all[0].ID, all[1].ID},
		"?ended_after=" + moment(all[2]):                                     {all[0].ID, all[1].ID},
		"?ended_before=" + moment(all[0]) + "&ended_after=" + moment(all[2]): {all[1].ID},
	} {
		got := b.days(t, query)
		var ids []string
		for _, d := range got.Data {
			ids = append(ids, d.ID)
		}
		if strings.Join(ids, " ") != strings.Join(want, " ") || got.HasMore != strings.Contains(query, "limit=1") {
			t.Errorf("%s: got %v, more %t, want %v", query, ids, got.HasMore, want)
		}
	}
	unknown := "/v1/settlement_days/day_0000000000001"
	wantRefusal(t, b.get(t, unknown), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
	for path, param := range map[string]string{
		"/v1/settlement_days?ended_after=yesterday": "ended_after", "/v1/settlement_days?ended_before=1": "ended_before",
		"/v1/captures?settlement_day=" + b.MustCreate(t, 1, "").ID: "settlement_day", "/v1/refunds?settlement=x": "settlement",
		"/v1/transactions?settlement=x": "settlement", "/v1/transactions?settlement=none,none": "settlement",
		"/v1/transactions?status=captured,": "status", "/v1/transactions?settlement_day=x": "settlement_day",
	} {
		wantRefusal(t, b.get(t, path), invalid("invalid_value", param))
	}
}

func moment(d v1.SettlementDay) string { return url.QueryEscape(d.EndedAt.Format(time.RFC3339Nano)) }

// TestSettlementOnRequestEndsADay: the test helpers settle with a day that ends at once, refunds
// included. Its totals are of that day alone.
func TestSettlementOnRequestEndsADay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	sale := b.payBy(t, "pm_card_visa", 100)
	b.advance(t, time.Hour)
	MustDecode[v1.Transaction](t, b.post(t, "/v1/test_helpers/transactions/"+sale.ID+"/settle", ""), 200)
	days := b.days(t, "").Data
	if len(days) != 1 || !days[0].EndedAt.Equal(birth.Add(time.Hour)) || inTotals(days[0]) != "usd visa 1/100 0/0" {
		t.Fatalf("one transaction: got %+v", days)
	}
	MustDecode[v1.Refund](t, b.post(t, "/v1/refunds", `{"transaction":"`+sale.ID+`"}`), 201)
	b.advance(t, time.Hour)
	for more := true; more; {
		more = MustDecode[v1.SettlementRun](t, b.post(t, "/v1/test_helpers/settlement_runs", ""), 200).HasMore
	}
	days = b.days(t, "").Data
	if len(days) != 2 || inTotals(days[0]) != "usd visa 0/0 1/100" {
		t.Errorf("a run: got %+v", days)
	}
}
