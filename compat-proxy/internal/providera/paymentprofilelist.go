package providera

import (
	"context"
	"strconv"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const paymentProfileListResponse = "getCustomerPaymentProfileListResponse"

// paymentProfilesOfPage is the size of a page of a list of payment profiles for a request without
// one.
const paymentProfilesOfPage = 10

// paymentProfileList serves a getCustomerPaymentProfileListRequest.
func (h *Handler) paymentProfileList(ctx context.Context, c call) (*wire.Document, problem) {
	list, p := decodeExpiring(c.req.Root)
	var r command.Result
	if p.none() {
		r = h.execute(ctx, c, list)
		p = judgeProfile(r)
	}
	if !p.none() {
		return refusal(paymentProfileListResponse, c.req.RefID, p), p
	}
	var found command.StoredMethods
	if r.Stored != nil {
		found = *r.Stored
	}
	total := wire.RawElement("totalNumInResultSet", strconv.Itoa(found.Total))
	if len(found.Rows) == 0 {
		return document(paymentProfileListResponse, c.req.RefID, wire.ResultOK, refuse(apiNoRows), total), p
	}
	rows := make([]*wire.Element, len(found.Rows))
	for i := range found.Rows {
		rows[i] = wire.GroupElement("paymentProfile", listedMethod(&found.Rows[i])...)
	}
	return document(paymentProfileListResponse, c.req.RefID, wire.ResultOK, refuse(apiOK), total,
		wire.ListElement("paymentProfiles", rows...)), p
}

// decodeExpiring converts a getCustomerPaymentProfileListRequest to its command. It is pure.
func decodeExpiring(req wire.Node) (list command.ListExpiring, p problem) {
	month, year, hidden, ok := expiration(req.Get("month"))
	if !ok || hidden {
		return list, invalid("month")
	}
	list = command.ListExpiring{
		Month: month, Year: year, NewestFirst: isTrue(req.Get("sorting", "orderDescending")), Limit: paymentProfilesOfPage,
	}
	list.Skip, list.Limit, p = pageOf(req, paymentProfilesOfPage)
	return list, p
}

// listedMethod returns the elements of a payment profile in a list, in schema order. Its numbers
// are numbers, unlike in any other response.
func listedMethod(row *command.StoredMethod) elementList {
	var l elementList
	if row.Default {
		l.raw("defaultPaymentProfile", "true")
	}
	m := &row.Method
	l.raw("customerPaymentProfileId", decimal(id.PaymentMethod, m.ID))
	l.raw("customerProfileId", decimal(id.Customer, m.Customer))
	return append(l, wire.GroupElement("billTo", billingAddress(m)...),
		wire.GroupElement("payment", profileView{}.payment(m)...))
}

// billingAddress returns the elements of a payment profile's address.
func billingAddress(m *v1.PaymentMethod) elementList {
	email := ""
	if m.Billing != nil {
		email = v1.Text(m.Billing.Email)
	}
	shown := customerAddress(m.Billing, m.Metadata["billing_fax"], email)
	return derived(withEmpty(shown, m.Metadata[emptyBillingKey], billingFields), 1, "phoneNumber", "faxNumber", "email")
}
