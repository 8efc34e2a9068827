package providera

import (
	"cmp"
	"regexp"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/chars"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// record is a payment, or a refund of it, in the dialect's form.
type record struct {
	payment  *v1.Transaction
	refund   *v1.Refund // nil if the record is of the payment itself
	metadata map[string]string
	exponent int
	zone     *time.Location
	day      *v1.SettlementDay // in which it settled; nil before that, and in lists
}

func newRecord(t *v1.Transaction, refund *v1.Refund, zone *time.Location) record {
	if zone == nil {
		zone = time.UTC
	}
	if t == nil {
		t = credited(refund)
	}
	currency, _ := money.Lookup(t.Currency) // v1 has no other currencies
	r := record{payment: t, refund: refund, metadata: t.Metadata, exponent: currency.Exponent, zone: zone}
	if refund != nil {
		r.metadata = refund.Metadata
	}
	return r
}

// recordStatuses maps a payment's state. For a captured one, the settlement matters too.
var recordStatuses = map[v1.TransactionStatus]string{
	v1.TransactionStatusAuthorized:        "authorizedPendingCapture",
	v1.TransactionStatusPartiallyCaptured: "capturedPendingSettlement",
	v1.TransactionStatusCaptured:          "capturedPendingSettlement",
	v1.TransactionStatusVoided:            "voided",
	v1.TransactionStatusExpired:           "expired",
	v1.TransactionStatusDeclined:          "declined",
	v1.TransactionStatusFailed:            "generalError",
	// Undecided. Of the statuses that clients accept, this one makes them poll again.
	v1.TransactionStatusProcessing: "FDSPendingReview",
	v1.TransactionStatusUnknown:    "FDSPendingReview",
}

var refundStatuses = map[v1.RefundStatus]string{
	v1.RefundStatusPending:   "refundPendingSettlement",
	v1.RefundStatusSucceeded: "refundSettledSuccessfully",
	v1.RefundStatusFailed:    "generalError",
}

func (r record) status() string {
	if r.refund != nil {
		if r.refund.Settlement == v1.SettlementPending {
			return "refundPendingSettlement"
		}
		return refundStatuses[r.refund.Status]
	}
	name := recordStatuses[r.payment.Status]
	if name == "capturedPendingSettlement" && r.payment.Settlement == v1.SettlementSettled {
		return "settledSuccessfully"
	}
	return name
}

// transactionType returns the type of the request that made the record.
func (r record) transactionType() string {
	switch {
	case r.refund != nil:
		return typeRefund
	case r.payment.PriorAuthorization != nil:
		return typeForced
	case r.payment.Capture == v1.CaptureModeManual, r.metadata[bankAuthorizationKey] == "true":
		return typeAuthorize
	}
	return typeSale
}

// decision returns the response code, the reason and its description.
func (r record) decision() (responseCode, reason, string) {
	why := reasonApproved
	switch r.status() {
	case "declined":
		why = declineReason(r.payment)
	case "generalError":
		why = reasonProcessing
	case "FDSPendingReview":
		why = reasonReview
	default:
		if r.refund == nil && partial(r.payment) {
			why = reasonPartial
		}
	}
	class, text := because(why).reasonMessage()
	if why == reasonApproved {
		text = "Approval"
	}
	return class, why, text
}

// element builds the transaction in schema order. It leaves out empty elements, which clients with
// typed models cannot read.
func (r record) element() *wire.Element {
	number, made := decimal(id.Transaction, r.payment.ID), r.payment.CreatedAt.Time
	var l elementList
	if r.refund != nil {
		made = r.refund.CreatedAt.Time
		l.text("transId", decimal(id.Refund, r.refund.ID))
		if r.refund.Transaction != "" {
			l.text("refTransId", number)
		}
	} else {
		l.text("transId", number)
		l.text("splitTenderId", groupOf(r.payment))
	}
	class, why, description := r.decision()
	l.text("submitTimeUTC", made.UTC().Format(timeForm)+"Z")
	l.text("submitTimeLocal", made.In(r.zone).Format(timeForm))
	l.text("transactionType", r.transactionType())
	l.text("transactionStatus", r.status())
	l.raw("responseCode", string(class))
	l.raw("responseReasonCode", strconv.Itoa(int(why)))
	l.text("responseReasonDescription", description)
	r.checks(&l)
	if r.day != nil {
		l = append(l, batchElement(r.day, r.zone, false))
	}
	l.group("order", r.order()...)
	r.amounts(&l)
	l.list("lineItems", r.lineItems()...)
	if r.refund == nil {
		l.raw("prepaidBalanceRemaining", balanceOf(r.payment, r.exponent))
	}
	order := r.payment.Order
	l.raw("taxExempt", strconv.FormatBool(order != nil && order.TaxExempt != nil && *order.TaxExempt))
	l.group("payment", r.source())
	r.payer(&l)
	r.origin(&l)
	return wire.GroupElement("transaction", l...)
}

// timeForm has up to three decimals of a second, without zeros at the end.
const timeForm = "2006-01-02T15:04:05.999"

// checks adds the issuer's code and the result codes of a payment that reached the issuer.
func (r record) checks(l *elementList) {
	a := r.payment.Authorization
	if r.refund != nil || a == nil {
		return
	}
	l.text("authCode", cut(v1.Text(a.Code), 6))
	if r.payment.BankAccount != nil {
		return
	}
	avs, cvv, cavv := resultCodes(r.payment)
	l.text("AVSResponse", avs)
	if c := r.payment.Checks; c != nil && c.Cvc != v1.CheckResultNotProvided {
		l.text("cardCodeResponse", cvv)
	}
	if r.payment.ThreeDSecure != nil {
		l.text("CAVVResponse", cavv)
	}
}

// invoice returns the client's invoice number.
func (r record) invoice() string {
	switch {
	case r.refund != nil:
		return v1.Text(r.refund.Reference)
	case r.payment.Metadata[command.GroupKey] != "":
		return r.payment.Metadata[invoiceKey]
	}
	return v1.Text(r.payment.Reference)
}

func (r record) order() []*wire.Element {
	o := v1.Order{}
	if r.payment.Order != nil && r.refund == nil {
		o = *r.payment.Order
	}
	invoice, description := r.invoice(), v1.Text(r.payment.Description)
	if r.refund != nil {
		description = ""
	}
	after := r.refund == nil && r.metadata[taxAfterDiscountKey] == "true"
	if invoice == "" && description == "" && o.DiscountAmount == nil && o.PurchaseOrderNumber == nil && !after {
		return nil
	}
	discount := "0.0"
	if o.DiscountAmount != nil {
		discount = r.amount(*o.DiscountAmount)
	}
	var l elementList
	l.text("invoiceNumber", cut(invoice, 20))
	l.text("description", cut(description, 255))
	l.raw("discountAmount", discount)
	l.raw("taxIsAfterDiscount", strconv.FormatBool(after))
	l.text("purchaseOrderNumber", cut(v1.Text(o.PurchaseOrderNumber), 25))
	return derived(l, 1, "purchaseOrderNumber")
}

// amounts adds the requested, authorized and captured amounts.
func (r record) amounts(l *elementList) {
	t := r.payment
	if r.refund != nil {
		l.raw("authAmount", r.amount(r.refund.Amount))
		l.raw("settleAmount", r.amount(r.refund.Amount))
		return
	}
	allowed := t.AmountAuthorized
	switch {
	case allowed == 0:
		allowed = t.Amount
	case allowed < t.Amount:
		l.raw("requestedAmount", r.amount(t.Amount))
	}
	l.raw("authAmount", r.amount(allowed))
	l.raw("settleAmount", r.amount(r.taken()))
	if t.Order == nil {
		return
	}
	for _, extra := range []struct {
		name   string
		amount *v1.Money
	}{{"tax", t.Order.TaxAmount}, {"shipping", t.Order.ShippingAmount}, {"duty", t.Order.DutyAmount}} {
		if extra.amount != nil {
			l.group(extra.name, r.extended(extra.name, r.amount(*extra.amount))...)
		}
	}
}

// taken returns the amount that settles or has settled, or would settle if it is captured.
func (r record) taken() v1.Money {
	t := r.payment
	if r.refund != nil {
		return r.refund.Amount
	}
	switch t.Status {
	case v1.TransactionStatusAuthorized:
		return t.AmountAuthorized
	case v1.TransactionStatusVoided, v1.TransactionStatusExpired, v1.TransactionStatusDeclined, v1.TransactionStatusFailed:
		return 0
	case v1.TransactionStatusCaptured, v1.TransactionStatusPartiallyCaptured, v1.TransactionStatusProcessing,
		v1.TransactionStatusUnknown,
		v1.TransactionStatusRequiresConfirmation, v1.TransactionStatusCanceled:
	}
	return t.AmountCaptured
}

func (r record) lineItems() []*wire.Element {
	if r.refund != nil || r.payment.Order == nil || r.payment.Order.LineItems == nil {
		return nil
	}
	items := make([]*wire.Element, 0, len(*r.payment.Order.LineItems))
	for _, item := range *r.payment.Order.LineItems {
		var l elementList
		// The dialect requires an itemId. An item of another API may have only a name.
		l.text("itemId", cut(cmp.Or(v1.Text(item.ID), item.Name), 31))
		l.text("name", cut(item.Name, 31))
		l.text("description", cut(v1.Text(item.Description), 255))
		l.raw("quantity", decimals(item.Quantity, 5))
		l.raw("unitPrice", decimals(item.UnitPrice, 2))
		if item.Taxable != nil {
			l.raw("taxable", strconv.FormatBool(*item.Taxable))
		}
		items = append(items, wire.GroupElement("lineItem", l...))
	}
	return items
}

// source returns the masked payment source.
func (r record) source() *wire.Element {
	if b := r.payment.BankAccount; b != nil {
		return maskedBank(b, r.metadata)
	}
	number, cardType := charged(r.payment)
	return maskedCard(number, maskedMonth, cardType)
}

// hiddenNumber stands for a number of which v1 shows no digit.
const hiddenNumber = "XXXXXXXX"

// maskedMonth is the masked form of an expiration date.
const maskedMonth = "XXXX"

// maskedCard builds a card with a masked number and the name of its brand.
func maskedCard(number, month, cardType string) *wire.Element {
	var l elementList
	l.text("cardNumber", cmp.Or(number, hiddenNumber))
	l.text("expirationDate", month)
	l.text("cardType", cardType)
	return wire.GroupElement("creditCard", l...)
}

// maskedBank builds a bank account with masked numbers. The metadata has the dialect's own fields.
func maskedBank(b *v1.BankAccount, metadata v1.Metadata) *wire.Element {
	var l elementList
	l.text("accountType", accountTypeNames[b.AccountType])
	l.text("routingNumber", cmp.Or(masked(lastFour(b.RoutingNumber)), hiddenNumber))
	l.text("accountNumber", cmp.Or(masked(b.Last4), hiddenNumber))
	l = append(l, wire.TextElement("nameOnAccount", cut(b.Holder, 22))) // required, though it may be erased
	l.typed("echeckType", metadata["echeck_type"], wire.EcheckType)
	l.text("bankName", cut(metadata["bank_name"], 50))
	return wire.GroupElement("bankAccount", l...)
}

// accountTypeNames are the dialect's names of bank account types.
var accountTypeNames = map[v1.BankAccountType]string{
	v1.BankAccountTypeChecking: "checking", v1.BankAccountTypeSavings: "savings",
	v1.BankAccountTypeBusinessChecking: "businessChecking",
}

// amountForm is a decimal that is safe as a number: a v1 merchant may write any metadata.
var amountForm = regexp.MustCompile(`^[0-9]{1,15}([.][0-9]{1,4})?$`)

// markets are the names of the market types. The default is an online payment.
var markets = map[string]string{"1": "MOTO", "2": "Retail"}

// market returns the market type of the payment, and whether the card was present.
func (r record) market() (market, product string) {
	market, product = markets[r.metadata["market_type"]], "Card Not Present"
	switch market {
	case "":
		market = "eCommerce"
	case "Retail":
		product = "Card Present"
	}
	return market, product
}

// origin adds the origin of the payment.
func (r record) origin(l *elementList) {
	market, product := r.market()
	l.raw("recurringBilling", strconv.FormatBool(r.metadata["recurring"] == "true"))
	l.text("customerIP", r.metadata["client_ip"])
	l.text("product", product)
	l.text("marketType", market)
	var solution elementList
	solution.text("id", r.metadata["solution_id"])
	l.group("solution", solution...)
	l.group("profile", r.profile()...)
	r.extra(l, "surcharge", "surcharge_amount")
	l.text("employeeId", r.metadata["employee_id"])
	r.extra(l, "tip", "tip_amount")
	if r.refund != nil {
		return
	}
	if a := r.payment.Authorization; a != nil {
		l.typed("networkTransId", v1.Text(a.NetworkTransactionID), wire.NetworkTransID)
	}
	if i := r.payment.Initiator; i != nil {
		l.typed("originalNetworkTransId", v1.Text(i.PreviousNetworkTransactionID), wire.NetworkTransID)
	}
	if r.payment.BankAccount == nil && r.payment.PriorAuthorization == nil {
		indicator := indicatorFinal
		if r.payment.Capture == v1.CaptureModeManual && r.metadata[finalKey] != "true" {
			indicator = indicatorPre
		}
		l.text("authorizationIndicator", indicator)
	}
}

// profile returns the numbers of the stored customer that paid.
func (r record) profile() []*wire.Element {
	customer := v1.Text(r.payment.Customer)
	if customer == "" {
		return nil
	}
	var l elementList
	l.text("customerProfileId", decimal(id.Customer, customer))
	if method := decimal(id.PaymentMethod, r.payment.PaymentMethod); method != noID {
		l.text("customerPaymentProfileId", method)
	}
	if address := r.metadata[shippingKey]; chars.Digits(address) {
		l.text("customerAddressId", address)
	}
	return l
}

// extra adds an extended amount that is stored as text.
func (r record) extra(l *elementList, name, key string) {
	if amount := r.metadata[key]; amountForm.MatchString(amount) {
		l.group(name, r.extended(name, decimals(amount, 2))...)
	}
}

// extended returns an amount with its name and description.
func (r record) extended(name, amount string) []*wire.Element {
	var l elementList
	l.raw("amount", amount)
	l.text("name", cut(r.metadata[name+nameKey], 31))
	l.text("description", cut(r.metadata[name+descriptionKey], 255))
	return l
}

// amount writes minor units in major units, with at least two decimal places.
func (r record) amount(minor v1.Money) string { return majorAmount(minor, r.exponent) }
