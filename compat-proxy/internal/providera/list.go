package providera

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const (
	// longestUnsettled is the age at which a payment has settled, or its authorization has expired.
	longestUnsettled = 35 * 24 * time.Hour
	// endedFor is how long a list of unsettled transactions shows voided, declined and failed ones.
	endedFor = 24 * time.Hour
	// longestPage is the size of a page for a request without one.
	longestPage = 1000
	// maxListed is the last row of a list that a client can read: v1's list is read up to it.
	maxListed = 20_000
)

// The roots of the responses with transactions.
const (
	unsettledListResponse   = "getUnsettledTransactionListResponse"
	transactionListResponse = "getTransactionListResponse"
)

// unsettledList serves a getUnsettledTransactionListRequest.
func (h *Handler) unsettledList(ctx context.Context, c call) (*wire.Document, problem) {
	now := c.basis.now
	return h.transactions(ctx, c, unsettledListResponse, command.ListTransactions{Unsettled: &command.Unsettled{
		Since: now.Add(-longestUnsettled), EndedSince: now.Add(-endedFor),
		Undecided: c.req.Root.Get("status") == "pendingApproval",
	}})
}

// batchTransactions serves a getTransactionListRequest.
func (h *Handler) batchTransactions(ctx context.Context, c call) (*wire.Document, problem) {
	if !c.req.Root.Child("batchId").Present() {
		p := problem{API: apiFieldMissing, Text: "Batch ID is required."}
		return refusal(transactionListResponse, c.req.RefID, p), p
	}
	return h.transactions(ctx, c, transactionListResponse, command.ListTransactions{
		Day: number(c.req.Root.Get("batchId")),
	})
}

// customerTransactions serves a getTransactionListForCustomerRequest.
func (h *Handler) customerTransactions(ctx context.Context, c call) (*wire.Document, problem) {
	return h.transactions(ctx, c, transactionListResponse, command.ListTransactions{
		Customer: number(c.req.Root.Get("customerProfileId")), Method: number(c.req.Root.Get("customerPaymentProfileId")),
	})
}

// transactions responds with a page of a list.
func (h *Handler) transactions(
	ctx context.Context, c call, root string, list command.ListTransactions,
) (*wire.Document, problem) {
	list, p := withPage(c.req.Root, list)
	if !p.none() {
		return refusal(root, c.req.RefID, p), p
	}
	return transactionList(c.req, c.basis, root, h.execute(ctx, c, list))
}

// withPage adds the order and the page that a request selects. Without them the list has the newest
// transactions first.
func withPage(req wire.Node, list command.ListTransactions) (command.ListTransactions, problem) {
	list.OldestFirst = req.Child("sorting").Present() && !isTrue(req.Get("sorting", "orderDescending"))
	skip, limit, p := pageOf(req, longestPage)
	list.Skip, list.Limit = skip, limit
	return list, p
}

// pageOf returns the rows before the page that a request selects, and the size of the page. Without
// one it is the first page of that size.
func pageOf(req wire.Node, size int) (skip, limit int, p problem) {
	limit = size
	if paging := req.Child("paging"); paging.Present() {
		var errLimit, errPage error
		var page int
		limit, errLimit = strconv.Atoi(paging.Get("limit"))
		page, errPage = strconv.Atoi(paging.Get("offset"))
		if errLimit != nil || errPage != nil {
			return 0, 0, refuse(apiFieldInvalid) // the schema has checked both
		}
		skip = limit * (page - 1)
	}
	if skip+limit > maxListed {
		return 0, 0, refuse(apiPageTooFar)
	}
	return skip, limit, problem{}
}

// transactionList builds the response to a request for a list. It is pure.
func transactionList(req *wire.Request, b basis, root string, r command.Result) (*wire.Document, problem) {
	if p := listProblem(r); !p.none() {
		return refusal(root, req.RefID, p), p
	}
	if r.List == nil || len(r.List.Rows) == 0 {
		return noRows(root, req.RefID), problem{}
	}
	rows := make([]*wire.Element, len(r.List.Rows))
	for i, row := range r.List.Rows {
		rows[i] = newRecord(row.Transaction, row.Refund, b.zone).summary()
	}
	return document(root, req.RefID, wire.ResultOK, refuse(apiOK), wire.ListElement("transactions", rows...),
		wire.RawElement("totalNumInResultSet", strconv.Itoa(r.List.Total))), problem{}
}

// listProblem returns the problem if there is nothing to show. A list or batch that does not exist
// is an empty one.
func listProblem(r command.Result) problem {
	if r.Outcome == command.NotFound {
		return problem{}
	}
	return detailsProblem(r)
}

// noRows builds the response without a row.
func noRows(root string, refID *string) *wire.Document {
	return document(root, refID, wire.ResultOK, refuse(apiNoRows))
}

// unknownAccount is the account type of a payment source that v1 does not show.
const unknownAccount = "Unknown"

// secondForm is a time in whole seconds.
const secondForm = "2006-01-02T15:04:05"

// summary builds the row of a list in schema order.
func (r record) summary() *wire.Element {
	transID, made := decimal(id.Transaction, r.payment.ID), r.payment.CreatedAt.Time
	if r.refund != nil {
		transID, made = decimal(id.Refund, r.refund.ID), r.refund.CreatedAt.Time
	}
	account, accountType := charged(r.payment)
	market, product := r.market()
	var l elementList
	l.text("transId", transID)
	l.text("submitTimeUTC", made.UTC().Format(secondForm)+"Z")
	l.text("submitTimeLocal", made.In(r.zone).Format(secondForm))
	l.text("transactionStatus", r.status())
	l.text("invoiceNumber", cut(r.invoice(), 20))
	if b := r.payment.Billing; b != nil {
		l.text("firstName", cut(v1.Text(b.FirstName), 50))
		l.text("lastName", cut(v1.Text(b.LastName), 50))
	}
	l.text("accountType", cmp.Or(accountType, unknownAccount))
	l.text("accountNumber", cmp.Or(account, "XXXX"))
	l.raw("settleAmount", r.amount(r.taken()))
	l.text("marketType", market)
	l.text("product", product)
	l.group("profile", r.profile()...)
	return wire.GroupElement("transaction", l...)
}
