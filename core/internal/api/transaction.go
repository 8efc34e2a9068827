package api

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gorilla/mux"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/money"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (a *API) transactionRoutes() []route {
	return []route{
		{http.MethodPost, "/v1/transactions", apikey.ScopePaymentsAuthorize, a.changing(a.createTransaction)},
		{http.MethodGet, "/v1/transactions", apikey.ScopeTransactionsFind, a.listTransactions},
		{http.MethodGet, "/v1/transactions/{id}", apikey.ScopeTransactionsReadOne, a.getTransaction},
		{http.MethodPatch, "/v1/transactions/{id}", apikey.ScopePaymentsAuthorize, a.changing(a.updateTransaction)},
		{http.MethodPost, "/v1/transactions/{id}/confirm", apikey.ScopePaymentsConfirm, a.changing(a.confirmTransaction)},
		{http.MethodPost, "/v1/transactions/{id}/void", apikey.ScopePaymentsAuthorize, a.changing(a.voidTransaction)},
	}
}

// transactionDetails is the part of a transaction that comes from the merchant and the card. It has
// the contract's form, and is stored unchanged.
type transactionDetails struct {
	shownSource
	PriorAuthorization  *v1.PriorAuthorization `json:"prior_authorization,omitempty"`
	ThreeDSecure        *v1.ThreeDSecure       `json:"three_d_secure,omitempty"`
	Initiator           *v1.Initiator          `json:"initiator,omitempty"`
	Customer            *string                `json:"customer,omitempty"`
	Reference           *string                `json:"reference,omitempty"`
	Description         *string                `json:"description,omitempty"`
	StatementDescriptor *string                `json:"statement_descriptor,omitempty"`
	Billing             *v1.Contact            `json:"billing,omitempty"`
	Shipping            *v1.Contact            `json:"shipping,omitempty"`
	Order               *v1.Order              `json:"order,omitempty"`
	Metadata            *v1.Metadata           `json:"metadata,omitempty"`
}

func (a *API) createTransaction(c *call) (engine.Result, error) {
	var in v1.TransactionCreate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	if f := createFault(&in, c.body); f != nil {
		return engine.Result{}, f
	}
	if unconfirmed(&in) {
		return a.prepareTransaction(c, &in)
	}
	payer, err := a.payer(c.Context(), c.key.Tenant, givenSource{in.PaymentMethod, in.Card, in.CardCvc, in.NetworkToken, in.BankAccount, in.Customer})
	if err != nil {
		return engine.Result{}, err
	}
	if f := payer.debitFault(autoCapture(&in), in.Currency, in.ThreeDSecure); f != nil {
		return engine.Result{}, f
	}
	if f := payer.priorFault(&in); f != nil {
		return engine.Result{}, f
	}
	if in.Billing == nil {
		in.Billing = payer.billing
	}
	p := engine.Payment{
		Amount: in.Amount, Currency: in.Currency, AutoCapture: autoCapture(&in), Partial: partial(&in), PaymentMethod: payer.method,
		PriorCode: priorCode(&in), Source: payer.Source, Drawn: payer.drawn, Billing: billing(in.Billing), ThreeDSecure: threeDSecure(in.ThreeDSecure), Initiator: initiator(in.Initiator),
	}
	d := details(&in, payer.shown, payer.customer)
	p.Details, p.Order, p.Terms = encode(d), order(d), terms(payer.customer, in.Reference)
	out, err := a.Engine.Authorize(c.Context(), c.request, p)
	return out, payer.sourceFault(err)
}

// details returns the part of a create that is stored with its transaction.
func details(in *v1.TransactionCreate, shown shownSource, customer string) *transactionDetails {
	return &transactionDetails{
		shownSource: shown, PriorAuthorization: in.PriorAuthorization, ThreeDSecure: shownThreeDSecure(in.ThreeDSecure), Initiator: in.Initiator, Customer: v1.Optional(customer),
		Reference: in.Reference, Description: in.Description, StatementDescriptor: in.StatementDescriptor,
		Billing: in.Billing, Shipping: in.Shipping, Order: in.Order, Metadata: in.Metadata,
	}
}

// terms returns the values by which lists find a transaction.
func terms(customer string, reference *string) payment.Terms {
	t := payment.Terms{Customer: customer}
	if reference != nil {
		t.Reference = *reference
	}
	return t
}

// unconfirmed reports whether the transaction waits to be confirmed.
func unconfirmed(in *v1.TransactionCreate) bool { return in.Confirm != nil && !*in.Confirm }

// autoCapture reports whether an approved payment is captured immediately.
func autoCapture(in *v1.TransactionCreate) bool {
	return in.Capture == nil || *in.Capture == v1.CaptureModeAutomatic
}

// partial reports whether less than the amount may be approved.
func partial(in *v1.TransactionCreate) bool {
	return in.PartialAuthorization != nil && *in.PartialAuthorization == v1.PartialAuthorizationIfAvailable
}

// createFault checks the fields that need neither the store nor the card.
func createFault(in *v1.TransactionCreate, body []byte) *fault {
	verification := in.Amount == 0 && !autoCapture(in) && given(body, "amount")
	if f := amountFault(in.Amount, in.Amount != 0 || given(body, "amount")); f != nil && !verification {
		return f
	}
	if in.Currency == "" {
		return &fault{code: codeMissingField, param: "currency"}
	}
	if _, ok := money.Lookup(in.Currency); !ok {
		return &fault{code: codeUnknownCurrency, param: "currency"}
	}
	if in.PaymentMethod == "" && (in.Customer == nil && !unconfirmed(in) || given(body, "payment_method")) {
		return &fault{code: codeMissingField, param: "payment_method"}
	}
	if in.Capture != nil && !in.Capture.Valid() {
		return &fault{code: codeInvalidValue, param: "capture", message: "The value must be \"automatic\" or \"manual\"."}
	}
	if in.PartialAuthorization != nil && !in.PartialAuthorization.Valid() {
		return &fault{code: codeInvalidValue, param: "partial_authorization", message: "The value must be \"never\" or \"if_available\"."}
	}
	for _, f := range []*fault{
		controlFault("statement_descriptor", in.StatementDescriptor),
		lengthFault(
			field{"payment_method", &in.PaymentMethod, 64}, field{"reference", in.Reference, 255},
			field{"description", in.Description, 1000}, field{"statement_descriptor", in.StatementDescriptor, 22},
		),
		contactFault("billing", in.Billing), contactFault("shipping", in.Shipping), orderFault(in.Order), metadataFault(in.Metadata),
		threeDSecureFault(in.ThreeDSecure), initiatorFault(in.Initiator), priorFault(in),
	} {
		if f != nil {
			return f
		}
	}
	return nil
}

func holder(c *v1.CardInput) *string {
	if c == nil {
		return nil
	}
	return c.Holder
}

// billing returns the payer and the address for the acquirer. A country that is given by its name
// has no code, and is left out.
func billing(c *v1.Contact) acquirer.Billing {
	if c == nil {
		return acquirer.Billing{}
	}
	b := acquirer.Billing{
		FirstName: v1.Text(c.FirstName), LastName: v1.Text(c.LastName), Company: v1.Text(c.Company),
		Email: v1.Text(c.Email), Phone: v1.Text(c.Phone),
	}
	if a := c.Address; a != nil {
		b.AddressLine, b.AddressLine2, b.City, b.State = v1.Text(a.Line1), v1.Text(a.Line2), v1.Text(a.City), v1.Text(a.State)
		b.PostalCode = v1.Text(a.PostalCode)
		if country := v1.Text(a.Country); len(country) == len("us") {
			b.Country = strings.ToUpper(country)
		}
	}
	return b
}

// order returns the merchant's own data of a payment for the acquirer.
func order(d *transactionDetails) acquirer.Order {
	o := acquirer.Order{
		Reference: v1.Text(d.Reference), Description: v1.Text(d.Description), StatementDescriptor: v1.Text(d.StatementDescriptor),
	}
	if d.Order != nil {
		o.Details = encode(d.Order)
	}
	return o
}

func (a *API) listTransactions(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	if r.URL.Query().Get("reference") == "" {
		if err := needScope(k, apikey.ScopeTransactionsRead); err != nil {
			return err
		}
	}
	p, names, err := expandingPage(r, k, id.Transaction, transactionParameters...)
	if err != nil {
		return err
	}
	f, err := transactionFilter(r.URL.Query())
	if err != nil {
		return err
	}
	found, err := a.Store.FilteredTransactions(r.Context(), k.Tenant, f, p)
	if err != nil {
		return err
	}
	return showPage(a, w, r, k, names, p, found, showTransaction)
}

func (a *API) getTransaction(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	names, err := expandingOne(r, k, id.Transaction)
	if err != nil {
		return err
	}
	n, err := pathID(r, id.Transaction)
	if err != nil {
		return err
	}
	t, err := a.Store.Transaction(r.Context(), k.Tenant, n)
	if err != nil {
		return err
	}
	shown := showTransaction(t)
	return a.showObject(w, r, k, names, &shown)
}

func (a *API) voidTransaction(c *call) (engine.Result, error) {
	n, err := pathID(c.Request, id.Transaction)
	if err != nil {
		return engine.Result{}, err
	}
	var in v1.TransactionVoid
	if err := c.decode(&in, true); err != nil {
		return engine.Result{}, err
	}
	if f := versionFault(in.ExpectedVersion); f != nil {
		return engine.Result{}, f
	}
	return a.Engine.Void(c.Context(), c.request, n, in.ExpectedVersion)
}

// bareStep returns the transaction of a step that takes no fields.
func (a *API) bareStep(c *call) (int64, error) {
	n, err := pathID(c.Request, id.Transaction)
	if err != nil {
		return 0, err
	}
	return n, c.decode(&struct{}{}, true)
}

// pathSegment decodes a variable of the path: the router does not.
func pathSegment(r *http.Request, name string) (string, error) {
	segment, err := url.PathUnescape(mux.Vars(r)[name])
	if err != nil {
		return "", &fault{code: codeNotFound, param: name, cause: err}
	}
	return segment, nil
}

// pathID reads the id of the path.
func pathID(r *http.Request, p id.Prefix) (int64, error) { return pathIDOf(r, "id", p) }

// pathIDOf reads the id in a variable of the path. A text that cannot be an id is not found.
func pathIDOf(r *http.Request, name string, p id.Prefix) (int64, error) {
	segment, err := pathSegment(r, name)
	if err != nil {
		return 0, err
	}
	n, err := id.Parse(p, segment)
	if err != nil {
		return 0, &fault{code: codeNotFound, param: name, cause: err}
	}
	return n, nil
}
