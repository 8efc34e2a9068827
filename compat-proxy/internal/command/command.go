package command

import v1 "github.com/causeway-pay/causeway/shared/v1"

// Kind names what a command does.
type Kind string

// The seven kinds. The method catalogue maps every legacy method to some of them.
const (
	PaymentAuthorize Kind = "payment.authorize"
	PaymentCapture   Kind = "payment.capture"
	PaymentVoid      Kind = "payment.void"
	PaymentRefund    Kind = "payment.refund"
	TransactionGet   Kind = "transaction.get"
	CustomerCreate   Kind = "customer.create"
	TokenCreate      Kind = "token.create"
)

// Kinds returns all seven, in the order of the published interface.
func Kinds() []Kind {
	return []Kind{
		PaymentAuthorize, PaymentCapture, PaymentVoid, PaymentRefund, TransactionGet, CustomerCreate, TokenCreate,
	}
}

// Command is one thing to do, as plain data: Authorize, Capture, Void, VoidGroup, Reverse, CancelCapture, Refund, Credit, Get,
// CreateCustomer, CreateToken or Refusal, or one of them Named.
type Command interface {
	// Kind names it.
	Kind() Kind
}

// Number is a v1 id in its decimal form, the only form a legacy client knows. It carries no prefix: the executor takes it for a
// transaction's first, then for a capture's where the command allows that, and for a refund's last.
type Number string

// Authorize asks for a payment, captured at once or later as the body says.
type Authorize struct {
	// Body is the whole v1 request; the decoder knows the currency, so amounts are in minor units already.
	Body v1.TransactionCreate `json:"body"`
	// Joins is the first payment of the order that this one is a further payment of; the body names it under GroupKey, and as its reference.
	Joins Number `json:"joins,omitempty"`
	// ShipToCustomer has the payment shipped to where its customer's goods go.
	ShipToCustomer bool `json:"ship_to_customer,omitzero"`
	// Takes are the brands of stored cards that may be charged. With any, what the customer pays with is looked at before it is charged.
	Takes []v1.CardBrand `json:"takes,omitempty"`
	Once  Once           `json:"once,omitzero"`
}

// Capture takes money that was authorized.
type Capture struct {
	Target Number `json:"target"`
	// Amount is a canonical decimal in major units of the target's currency, which only the target tells; empty means all of it.
	Amount string `json:"amount,omitempty"`
	// Final releases what the capture leaves.
	Final     bool              `json:"final"`
	Reference string            `json:"reference,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	Require   Require           `json:"require,omitzero"`
	// Seen tells that the caller has just seen the payment, so that nobody looks at it again. Then Amount and Require are empty, and the result
	// has no Transaction but that of a refusal.
	Seen bool `json:"seen,omitzero"`
}

// Void cancels a payment that has not settled.
type Void struct {
	Target Number `json:"target"`
	// Expected is the version that the payment must have, as a decision for the void has read it.
	// Another one is Refused with CodeNotVoidable and the payment as it is. Nil is any.
	Expected *int64 `json:"expected,omitempty"`
}

// VoidGroup cancels all payments of an order that is paid by several.
type VoidGroup struct {
	First Number `json:"first"`
}

// Refund gives captured money back.
type Refund struct {
	Target Number `json:"target"`
	// Captures allows that Target is a capture's number: the money is then given back of that capture.
	Captures bool `json:"captures,omitzero"`
	// Amount is a canonical decimal in major units of the target's currency; empty means all that is left.
	Amount    string            `json:"amount,omitempty"`
	Reference string            `json:"reference,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	Require   Require           `json:"require,omitzero"`
	Once      Once              `json:"once,omitzero"`
}

// Credit gives money to a card or bank account without a payment before it.
type Credit struct {
	// Body is the whole v1 request.
	Body v1.RefundCreate `json:"body"`
	Once Once            `json:"once,omitzero"`
}

// Get reads one transaction.
type Get struct {
	Target Number `json:"target"`
	// Captures allows that Target is a capture's number; the result then has the capture too, and for a voided
	// payment's number the capture that was voided with it.
	Captures bool `json:"captures,omitzero"`
}

// CreateCustomer stores a customer with its payment methods: all of it or nothing. A customer with the
// same reference, description and e-mail address is not made again. The fields count as the client
// sent them: customers stay apart whose fields are equal only since card numbers in them were masked.
type CreateCustomer struct {
	Body v1.CustomerInput `json:"body"`
	// Methods are the payment methods, in the order of the result's.
	Methods []NewMethod `json:"methods,omitempty"`
	// Default is the place of the default in Methods, counted from 1; 0 for none.
	Default int `json:"default,omitzero"`

	// unmasked are the fields that tell the customer apart as the client sent them, if v1 gets one of
	// them masked; else nil.
	unmasked []string
}

// NewMethod is a payment method of a customer that is made.
type NewMethod struct {
	Token    CreateToken       `json:"token"`
	Billing  *v1.Contact       `json:"billing,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// CreateToken has v1 keep a card or a bank account for an hour, to be used once.
type CreateToken struct {
	Body v1.TokenCreate `json:"body"`
}

// MethodKind tells cards from bank accounts.
type MethodKind string

// The kinds that a target can be required to be of.
const (
	CardKind MethodKind = "card" // network tokens too, which their payers take for their cards
	BankKind MethodKind = "bank_account"
)

// Require is what must hold of the target before anything is executed. The zero value requires nothing.
type Require struct {
	// Settled asks that the captured money has settled.
	Settled bool `json:"settled,omitempty"`
	// Last4 asks that the payment was made with a card, token or bank account whose number ends so. Of a bank account it may be less than four
	// digits, if that is all that v1 shows.
	Last4 string `json:"last4,omitempty"`
	// Kind asks that the payment was made with one of that kind.
	Kind MethodKind `json:"kind,omitempty"`
	// Routing asks that the bank account's routing number ends so.
	Routing string `json:"routing,omitempty"`
	// Currency asks that the payment was made in it; lower case.
	Currency string `json:"currency,omitempty"`
	// Customer and Method ask that the payment was made by that customer, with that payment method.
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
