package providera

import (
	"context"
	"slices"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/bankaccount"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/money"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The validation modes that query the issuer. Only the first requires an address.
const (
	modeLive    = "liveMode"
	modeOldLive = "oldLiveMode"
)

// queries reports whether a mode queries the issuer of a card.
func queries(mode string) bool { return mode == modeLive || mode == modeOldLive }

// profileCheck is the validation of one payment profile.
type profileCheck struct {
	// Problem is the result of the local checks. A reason has a direct response, an envelope code has
	// none.
	Problem problem
	// Verify queries the issuer; nil if there are only local checks.
	Verify         *command.Authorize
	DirectResponse directResponse
}

// owner holds the data of the customer in a direct response.
type owner struct{ customer, email string }

// ownerIn reads the owner in the profile of a request.
func ownerIn(profile wire.Node) owner {
	return owner{profile.Get("merchantCustomerId"), profile.Get("email")}
}

// newCheck checks a payment profile that v1 can store.
func newCheck(of owner, given wire.Node, mode string, basis basis) profileCheck {
	payment, billTo := given.Child("payment"), given.Child("billTo")
	c := profileCheck{DirectResponse: directResponse{
		test: true, amount: "1.00", method: "CC", customer: of.customer, email: of.email, billTo: addressFields(billTo),
		avs: avsNotApplicable,
	}}
	if bank := payment.Child("bankAccount"); bank.Present() {
		c.DirectResponse.method, c.DirectResponse.accountType = "ECHECK", checkAccount
		c.DirectResponse.account = maskedAccount(accountNumber(bank), true)
		switch {
		case !bankaccount.ValidRouting(bank.Get("routingNumber")):
			c.Problem = because(reasonRouting)
		case !validAccount(accountNumber(bank)):
			c.Problem = because(reasonAccount)
		}
		return c
	}
	number := payment.Get("creditCard", "cardNumber")
	c.DirectResponse.account = masked(lastFour(number))
	if a, taken := brandOf(secret.New(number)); taken {
		c.DirectResponse.accountType = a.name
	}
	card, p := checkCard(payment.Child("creditCard"))
	live := queries(mode)
	if live {
		c.DirectResponse.test, c.DirectResponse.amount = false, "0.00"
	}
	switch {
	case mode == modeLive && !billTo.Has("address"):
		c.Problem = missing("Bill To Address")
	case mode == modeLive && !billTo.Has("zip"):
		c.Problem = missing("Bill To Zip")
	case !p.none():
		c.Problem = p
	case live:
		c.Verify = verification(card, contact(billTo), basis.currency)
	}
	return c
}

// verification queries the issuer about a card and reserves nothing.
func verification(card *v1.CardInput, billing *v1.Contact, currency string) *command.Authorize {
	if known, ok := money.Lookup(currency); ok {
		currency = known.Code
	}
	mode := v1.CaptureModeManual
	return &command.Authorize{Body: v1.TransactionCreate{
		Currency: currency, Capture: &mode, PaymentMethod: "card", Card: card, Billing: billing,
	}}
}

// validate runs the checks in order until one fails. It returns the direct responses and the
// problem. If one of the payment profiles lacks a field that its mode requires, no issuer is
// queried.
func (h *Handler) validate(ctx context.Context, c call, checks []profileCheck) ([]string, problem) {
	for _, check := range checks {
		if check.Problem.API != "" {
			return nil, check.Problem
		}
	}
	var responses []string
	for i, check := range checks {
		outcome, paid := check.Problem, command.Result{}
		if outcome.none() && check.Verify != nil {
			step := c.step(i)
			paid = h.execute(ctx, step, *check.Verify)
			outcome = judge(typeAuthorize, paid)
			h.voidVerification(ctx, step, paid)
		}
		if outcome.API != "" {
			return responses, outcome
		}
		responses = append(responses, check.DirectResponse.line(outcome, paid))
		if !outcome.none() {
			return responses, unsuccessful(outcome)
		}
	}
	return responses, problem{}
}

// unsuccessful returns the problem of a request with a check of that outcome.
func unsuccessful(outcome problem) problem {
	_, text := outcome.reasonMessage()
	return problem{API: apiUnsuccessful, Text: text}
}

// failedCheck returns the direct responses and the problem if all checks passed, but v1 then
// refused a payment profile for the reason why. position is the profile's, counted from 1.
func failedCheck(checks []profileCheck, responses []string, position int, why reason) ([]string, problem) {
	outcome := because(why)
	if position < 1 || position > len(checks) || position > len(responses) {
		return responses, unsuccessful(outcome)
	}
	return append(responses[:position-1:position-1], checks[position-1].DirectResponse.line(outcome, command.Result{})),
		unsuccessful(outcome)
}

// voidVerification voids a verification. If that fails, the verification lapses, because it
// reserves nothing.
func (h *Handler) voidVerification(ctx context.Context, c call, paid command.Result) {
	if paid.Outcome == command.Done {
		number := command.Number(decimal(id.Transaction, paid.Transaction.ID))
		h.execute(ctx, c, command.Void{Target: number})
	}
}

// queriesIssuer reports whether a check queries an issuer.
func queriesIssuer(checks []profileCheck) bool {
	return slices.ContainsFunc(checks, func(c profileCheck) bool { return c.Verify != nil })
}

// withChecks returns the command that stores payment profiles, and the verifications before it.
func withChecks(do command.Command, checks []profileCheck) []command.Command {
	all := []command.Command{do}
	for _, c := range checks {
		if c.Verify != nil {
			all = append(all, *c.Verify)
		}
	}
	return all
}

// directResponse is the direct response to a validation.
type directResponse struct {
	test             bool
	amount, method   string
	customer, email  string
	addressID        string   // of the stored shipping address
	billTo, shipTo   []string // in the order of addressParts, then phone and fax number
	account          string
	accountType, avs string
}

// line returns the direct response for an outcome; none means approved.
func (d directResponse) line(outcome problem, paid command.Result) string {
	if outcome.none() {
		outcome = because(reasonApproved)
	}
	var f directLine
	class := f.setOutcome(outcome, d.test)
	number, cvv, cavv := noID, "", ""
	switch {
	case d.test:
		if class == approved {
			f[4] = testAuthCode
		}
	case paid.Transaction != nil && class != failed:
		t := transaction{}
		t.setDecision(typeAuthorize, paid, outcome.Reason)
		f[4], number, cvv, cavv, d.avs = t.authCode, t.transID, t.cvv, t.cavv, t.avs
	}
	f[5], f[6] = d.avs, number
	f[7], f[8] = "none", "Test transaction for ValidateCustomerPaymentProfile."
	f[9], f[10], f[11], f[12], f[23] = d.amount, d.method, "auth_only", d.customer, d.email
	copy(f[13:23], d.billTo)
	copy(f[24:32], d.shipTo)
	f[32], f[33], f[34], f[35], f[36] = "0.00", "0.00", "0.00", "FALSE", "none"
	f[38], f[39], f[50], f[51] = cvv, cavv, d.account, directAccountType(d.accountType)
	var after []string
	if d.addressID != "" {
		after = []string{d.addressID}
	}
	return f.join(defaultDelimiter, "", after...)
}

// addressFields returns the fields of an address in a request.
func addressFields(address wire.Node) []string {
	fields := make([]string, 0, len(addressParts)+2)
	for _, name := range addressParts {
		fields = append(fields, address.Get(name))
	}
	return append(fields, address.Get("phoneNumber"), address.Get("faxNumber"))
}

// addressParts are an address's elements in the order of direct responses.
var addressParts = []string{"firstName", "lastName", "company", "address", "city", "state", "zip", "country"}
