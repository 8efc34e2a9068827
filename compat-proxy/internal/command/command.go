package command

import v1 "github.com/causeway-pay/causeway/shared/v1"

// Kind is the operation of a command.
type Kind string

// The kinds. The method catalogue maps each legacy method to one or more of them.
const (
	PaymentAuthorize Kind = "payment.authorize"
	PaymentCapture   Kind = "payment.capture"
	PaymentVoid      Kind = "payment.void"
	PaymentRefund    Kind = "payment.refund"
	TransactionGet   Kind = "transaction.get"
	CustomerCreate   Kind = "customer.create"
	TokenCreate      Kind = "token.create"

	CustomerGet    Kind = "customer.get"
	CustomerList   Kind = "customer.list"
	CustomerUpdate Kind = "customer.update"
	CustomerDelete Kind = "customer.delete"
	MethodGet      Kind = "payment_method.get"
	MethodCreate   Kind = "payment_method.create"
	MethodUpdate   Kind = "payment_method.update"
	MethodDelete   Kind = "payment_method.delete"
	MethodsList    Kind = "payment_method.list"

	TransactionList   Kind = "transaction.list"
	SettlementDayGet  Kind = "settlement_day.get"
	SettlementDayList Kind = "settlement_day.list"
)

// Kinds returns all kinds, in the order of the published interface.
func Kinds() []Kind {
	return []Kind{
		PaymentAuthorize, PaymentCapture, PaymentVoid, PaymentRefund, TransactionGet, CustomerCreate, TokenCreate,
		CustomerGet, CustomerList, CustomerUpdate, CustomerDelete, MethodGet, MethodCreate, MethodUpdate, MethodDelete,
		MethodsList, TransactionList, SettlementDayGet, SettlementDayList,
	}
}

// Command is one operation, as plain data. It is Authorize, Capture, Void, VoidGroup, Reverse,
// CancelCapture, Refund, Credit, Get, CreateCustomer, AttachMethod, CreateToken or Refusal, or a
// Named one of these. Or it is ListTransactions, ListDays, GetDay, GetCustomer, ListCustomers,
// FindCustomer, UpdateCustomer, IdentifyCustomer, DeleteCustomer, GetMethod, ListExpiring,
// AddMethod, ChangeMethod, DetachMethod, AddAddress, ChangeAddress or DeleteAddress.
type Command interface {
	// Kind returns the command's operation.
	Kind() Kind
}

// Number is a v1 id in its decimal form, the only form that legacy clients use. It has no prefix.
// The executor tries a transaction first, then a capture where the command allows that, then a
// refund.
type Number string

// Authorize makes a payment. The body decides whether it is captured immediately or later.
type Authorize struct {
	// Body is the whole v1 request. The decoder has the currency, so amounts are in minor units.
	Body v1.TransactionCreate `json:"body"`
	// Joins is the first payment of the order to which this payment belongs. The body has the same
	// number under GroupKey and as its reference.
	Joins Number `json:"joins,omitempty"`
	// ShipTo is the id of a shipping address of the customer. It is copied into the payment.
	ShipTo string `json:"ship_to,omitempty"`
	// AcceptedBrands are the brands of stored cards that may be charged. Unless it is empty, the
	// stored payment method is read before it is charged.
	AcceptedBrands []v1.CardBrand `json:"accepted_brands,omitempty"`
	Deduplication  Deduplication  `json:"deduplication,omitzero"`
}

// Capture collects authorized money.
type Capture struct {
	Target Number `json:"target"`
	// Amount is a canonical decimal in major units of the target's currency, which only the target
	// has. Empty means the whole amount.
	Amount string `json:"amount,omitempty"`
	// Final releases the rest of the authorization.
	Final     bool              `json:"final"`
	Reference string            `json:"reference,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	Require   Require           `json:"require,omitzero"`
	// Seen reports that the caller has just read the payment, so it is not read again. Then Amount and
	// Require are empty, and the result has no Transaction unless it is a refusal.
	Seen bool `json:"seen,omitzero"`
}

// Void cancels a payment that has not settled.
type Void struct {
	Target Number `json:"target"`
	// Expected is the version at which the caller decided to void the payment. Any other version is
	// Refused with v1.CodeNotVoidable and the payment as it is. Nil accepts any version.
	Expected *int64 `json:"expected,omitempty"`
	// Require holds conditions on the payment, which is then read first. Only conditions that never
	// change count.
	Require Require `json:"require,omitzero"`
}

// VoidGroup cancels all payments of an order that several payments pay.
type VoidGroup struct {
	First Number `json:"first"`
}

// Refund returns captured money.
type Refund struct {
	Target Number `json:"target"`
	// Captures allows Target to be the number of a capture, which is then refunded.
	Captures bool `json:"captures,omitzero"`
	// Amount is a canonical decimal in major units of the target's currency. Empty means all that was
	// not refunded yet.
	Amount        string            `json:"amount,omitempty"`
	Reference     string            `json:"reference,omitempty"`
	Metadata      map[string]string `json:"metadata,omitempty"`
	Require       Require           `json:"require,omitzero"`
	Deduplication Deduplication     `json:"deduplication,omitzero"`
}

// Credit pays money to a card or bank account without an earlier payment.
type Credit struct {
	// Body is the whole v1 request.
	Body          v1.RefundCreate `json:"body"`
	Deduplication Deduplication   `json:"deduplication,omitzero"`
}

// Get reads one transaction.
type Get struct {
	Target Number `json:"target"`
	// Captures allows Target to be a capture's number. The result then has the capture too. For
	// the number of a voided payment it has the capture that was voided with the payment.
	Captures bool `json:"captures,omitzero"`
	// Day adds the settlement day of a settled payment or refund. If a payment has several captures,
	// it is the last one's.
	Day bool `json:"day,omitzero"`
}

// CreateCustomer stores a customer with its payment methods and shipping addresses, completely or
// not at all. A customer with the same reference, description and e-mail address is not made again.
// The comparison uses the fields as the client sent them, so customers are different if their
// fields are equal only after card numbers were masked.
type CreateCustomer struct {
	Body v1.CustomerInput `json:"body"`
	// Addresses are the shipping addresses, in order.
	Addresses []v1.ShippingAddressInput `json:"addresses,omitempty"`
	// Methods are the payment methods, in the order of Result.Methods.
	Methods []NewMethod `json:"methods,omitempty"`
	// Default is the position of the default in Methods, counted from 1; 0 for none.
	Default int `json:"default,omitzero"`

	// Unmasked are the identifying fields as the client sent them, if v1 gets one of them masked; else
	// nil.
	Unmasked []string `json:"-"`
}

// NewMethod is a payment method of a customer that does not exist yet.
type NewMethod struct {
	Token    CreateToken       `json:"token"`
	Billing  *v1.Contact       `json:"billing,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// CreateToken stores a card or a bank account at v1 for an hour, for a single use.
type CreateToken struct {
	Body v1.TokenCreate `json:"body"`
}

// MethodType distinguishes cards from bank accounts.
type MethodType string

// The values of Require.MethodType.
const (
	CardMethod MethodType = "card" // includes network tokens, which payers see as their cards
	BankMethod MethodType = "bank_account"
)

// Require holds the conditions on the target. If one does not hold, nothing is executed. The zero
// value requires nothing.
type Require struct {
	// Settled requires that the captured money has settled.
	Settled bool `json:"settled,omitempty"`
	// Last4 requires that the number of the card, token or bank account ends in these digits. For a
	// bank account it may be less than four digits, if v1 shows no more.
	Last4 string `json:"last4,omitempty"`
	// MethodType requires that type of payment method.
	MethodType MethodType `json:"method_type,omitempty"`
	// Routing requires that the bank account's routing number ends in these digits.
	Routing string `json:"routing,omitempty"`
	// Currency, in lower case, requires that currency of the payment.
	Currency string `json:"currency,omitempty"`
	// Customer and Method require that the payment was made by that customer, with that payment
	// method.
	Customer string `json:"customer,omitempty"`
	Method   string `json:"method,omitempty"`
}

// Kind implements Command.
func (Authorize) Kind() Kind { return PaymentAuthorize }

// Kind implements Command.
func (Capture) Kind() Kind { return PaymentCapture }

// Kind implements Command.
func (Void) Kind() Kind { return PaymentVoid }

// Kind implements Command.
func (VoidGroup) Kind() Kind { return PaymentVoid }

// Kind implements Command.
func (Refund) Kind() Kind { return PaymentRefund }

// Kind implements Command.
func (Credit) Kind() Kind { return PaymentRefund }

// Kind implements Command.
func (Get) Kind() Kind { return TransactionGet }

// Kind implements Command.
func (CreateCustomer) Kind() Kind { return CustomerCreate }

// Kind implements Command.
func (CreateToken) Kind() Kind { return TokenCreate }

// AttachMethod gives an existing customer a payment method, without a security code. For 24 hours
// an equal command has no effect and gets the first payment method.
type AttachMethod struct {
	// Customer is the id of the customer in v1.
	Customer string    `json:"customer"`
	Method   NewMethod `json:"method"`
}

// Kind implements Command. Legacy methods attach payment methods where they also create customers.
func (AttachMethod) Kind() Kind { return CustomerCreate }
