package providera

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	// recentBatches is the range of a list of batches without dates.
	recentBatches = 24 * time.Hour
	// longestRange is the greatest range of a list of batches.
	longestRange = 31 * 24 * time.Hour
)

// The roots of the responses with batches.
const (
	batchListResponse       = "getSettledBatchListResponse"
	batchStatisticsResponse = "getBatchStatisticsResponse"
)

// settledBatches serves a getSettledBatchListRequest.
func (h *Handler) settledBatches(ctx context.Context, c call) (*wire.Document, problem) {
	list, p := settledBetween(c.req.Root, c.basis.now)
	if !p.none() {
		return refusal(batchListResponse, c.req.RefID, p), p
	}
	return batchList(c.req, c.basis, h.execute(ctx, c, list))
}

// settledBetween reads the range of settlement times. Both ends belong to it, as whole seconds.
func settledBetween(req wire.Node, now time.Time) (command.ListDays, problem) {
	first, hasFirst := dateTimeOf(req.Child("firstSettlementDate"))
	last, hasLast := dateTimeOf(req.Child("lastSettlementDate"))
	switch {
	case !hasFirst && !hasLast:
		return command.ListDays{After: now.Add(-recentBatches)}, problem{}
	case !hasFirst:
		return command.ListDays{}, problem{API: apiFieldInvalid, Text: "First Settlement Date is invalid."}
	case !hasLast, last.Before(first), last.Sub(first) > longestRange:
		return command.ListDays{}, problem{API: apiFieldInvalid, Text: "Last Settlement Date is invalid."}
	}
	end := last.Truncate(time.Second).Add(time.Second)
	return command.ListDays{After: first.Add(-time.Millisecond), Before: end}, problem{}
}

// dateTimeOf reads a time that the schema has checked. Without a zone it is in UTC.
func dateTimeOf(n wire.Node) (time.Time, bool) {
	for _, zone := range [...]string{"Z07:00", ""} {
		if t, err := time.Parse(secondForm+zone, n.Get()); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// batchList builds the response to a getSettledBatchListRequest. It is pure.
func batchList(req *wire.Request, b basis, r command.Result) (*wire.Document, problem) {
	if p := listProblem(r); !p.none() {
		return refusal(batchListResponse, req.RefID, p), p
	}
	if len(r.Days) == 0 {
		return noRows(batchListResponse, req.RefID), problem{}
	}
	statistics := isTrue(req.Root.Get("includeStatistics"))
	batches := make([]*wire.Element, len(r.Days))
	for i := range r.Days {
		batches[i] = batchElement(&r.Days[i], b.zone, statistics)
	}
	return document(batchListResponse, req.RefID, wire.ResultOK, refuse(apiOK),
		wire.ListElement("batchList", batches...)), problem{}
}

// batchStatistics serves a getBatchStatisticsRequest.
func (h *Handler) batchStatistics(ctx context.Context, c call) (*wire.Document, problem) {
	r := h.execute(ctx, c, command.GetDay{Day: number(c.req.Root.Get("batchId"))})
	if p := listProblem(r); !p.none() {
		return refusal(batchStatisticsResponse, c.req.RefID, p), p
	}
	if len(r.Days) == 0 {
		return noRows(batchStatisticsResponse, c.req.RefID), problem{}
	}
	return document(batchStatisticsResponse, c.req.RefID, wire.ResultOK, refuse(apiOK),
		batchElement(&r.Days[0], c.basis.zone, true)), problem{}
}

// batchElement builds a batch in schema order. A batch is a settlement day of v1.
func batchElement(d *v1.SettlementDay, zone *time.Location, statistics bool) *wire.Element {
	if zone == nil {
		zone = time.UTC
	}
	var l elementList
	l.text("batchId", decimal(id.SettlementDay, d.ID))
	l.text("settlementTimeUTC", d.EndedAt.UTC().Format(secondForm)+"Z")
	l.text("settlementTimeLocal", d.EndedAt.In(zone).Format(secondForm))
	l.text("settlementState", "settledSuccessfully")
	l.text("paymentMethod", batchMethod(d))
	if statistics {
		l.list("statistics", statisticsOf(d.Totals)...)
	}
	return wire.GroupElement("batch", l...)
}

// batchMethod returns the payment method of a batch, "" if it has cards and bank accounts.
func batchMethod(d *v1.SettlementDay) string {
	var method string
	for i := range d.Totals {
		of := "creditCard"
		if d.Totals[i].PaymentMethod == v1.SettlementTotalPaymentMethodBankAccount {
			of = checkAccount
		}
		if method != "" && method != of {
			return ""
		}
		method = of
	}
	return method
}

// statisticsOf builds the statistics of a batch, one row for each currency and account type.
// Several brands of v1 may have one account type.
func statisticsOf(totals []v1.SettlementTotal) []*wire.Element {
	type key struct{ currency, accountType string }
	var keys []key
	sums := map[key]v1.SettlementTotal{}
	for i := range totals {
		t := &totals[i]
		of := key{t.Currency, accountTypeOf(t)}
		sum, known := sums[of]
		if !known {
			keys = append(keys, of)
		}
		sum.Captures += t.Captures
		sum.AmountCaptured += t.AmountCaptured
		sum.Refunds += t.Refunds
		sum.AmountRefunded += t.AmountRefunded
		sums[of] = sum
	}
	rows := make([]*wire.Element, len(keys))
	for i, of := range keys {
		rows[i] = statistic(of.accountType, of.currency, sums[of])
	}
	return rows
}

// accountTypeOf returns the dialect's name of the payment source of a total.
func accountTypeOf(t *v1.SettlementTotal) string {
	if t.PaymentMethod == v1.SettlementTotalPaymentMethodBankAccount {
		return checkAccount
	}
	var brand v1.CardBrand
	if t.CardBrand != nil {
		brand = *t.CardBrand
	}
	return cmp.Or(accounts[card.Brand(brand)].name, unknownAccount)
}

// statistic builds one row of a batch's statistics. Only captures and refunds settle in v1.
func statistic(accountType, currencyCode string, t v1.SettlementTotal) *wire.Element {
	currency, _ := money.Lookup(currencyCode) // v1 has no other currencies
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	var l elementList
	l.text("accountType", accountType)
	l.raw("chargeAmount", majorAmount(t.AmountCaptured, currency.Exponent))
	l.raw("chargeCount", count(t.Captures))
	l.raw("refundAmount", majorAmount(t.AmountRefunded, currency.Exponent))
	l.raw("refundCount", count(t.Refunds))
	for _, name := range [...]string{"voidCount", "declineCount", "errorCount"} {
		l.raw(name, "0")
	}
	return wire.GroupElement("statistic", l...)
}
