package acquirer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/causeway-pay/causeway/shared/secret"
)

// The errors of an acquirer's methods. Any other error counts as ErrUnknown: nothing is guessed.
var (
	// ErrUnknown: the request may or may not have had its effect (a timeout, a broken connection).
	ErrUnknown = errors.New("acquirer: outcome unknown")
	// ErrUnavailable: the request certainly had no effect, and never will. After a byte was sent, only
	// a response of the acquirer itself proves that. A timeout, a broken connection or a gateway's
	// response does not. Package acquirertest tests this.
	ErrUnavailable = errors.New("acquirer: unavailable")
	// ErrNotFound: the acquirer has no request with this reference. The engine then closes the step as
	// without effect. If a search can lag behind, a connector returns ErrUnknown instead. Of the
	// requests that move money, only a repeated Capture, Void or Refund may return it.
	ErrNotFound = errors.New("acquirer: no such reference")
	// ErrUndecided is the ErrUnknown of an inquiry that got a response. The acquirer's records do
	// not decide about the request. If they stay so, only an operator can decide.
	ErrUndecided = fmt.Errorf("%w: the acquirer's records do not decide", ErrUnknown)
	// ErrNotListed is the ErrUnknown of a whole search that has not found the request. The request can
	// still appear in the acquirer's lists. If it never does, only an operator can decide.
	ErrNotListed = fmt.Errorf("acquirer: not in the lists: %w", ErrUnknown)
)

// Acquirer moves money. Implementations are safe for concurrent use and honour ctx. A repeated
// request never has a second effect. A connector may do one of three things with it:
//   - it replays: the acquirer recognizes the reference, and returns the first outcome again;
//   - it searches: the connector finds the first request in the acquirer's records;
//   - it undoes: the connector reverses the first request. The result is then ErrNotFound, or of an
//     inquiry an approval with Released.
type Acquirer interface {
	// Prepare returns a tag for one new request that moves money. The engine calls Prepare first, then
	// commits the intent. The intent chooses the reference. Its commit stores the tag, and each
	// request about that reference has the tag again. So the tag survives the process. A tag may stay
	// unused.
	// Prepare moves nothing. An error means that no request can be sent now. The tag has at most 64
	// printable ASCII characters.
	Prepare(ctx context.Context) (tag string, err error)
	// Authorize reserves, and with Capture also takes, the amount. A decline is a [Response], not an
	// error.
	Authorize(ctx context.Context, r Authorize) (Response, error)
	// Capture takes part or all of an authorized amount. With Final it also releases the rest of the
	// authorization, so that the payer can use that money immediately. A connector to an acquirer
	// without such a flag must request the release of the rest once the capture is approved. It must
	// repeat that request until it has a response. If its own response is lost, the engine calls
	// Capture again with the same values and Again. Such a call may undo the earlier capture: it then
	// returns ErrNotFound.
	Capture(ctx context.Context, r Follow) (Response, error)
	// Void releases an authorization or cancels a payment that has not settled. Without Drop, an
	// approval proves that the acquirer takes no money for the payment.
	//
	// With Drop, a void of a request that the acquirer does not have must be approved. The engine
	// reverses a request with a lost response in this way. If that request arrives later, the acquirer
	// should decline it. If the acquirer approves it, Inquire finds that.
	Void(ctx context.Context, r Follow) (Response, error)
	// Refund gives captured money back. With Again it may undo the earlier refund: it then returns
	// ErrNotFound.
	Refund(ctx context.Context, r Follow) (Response, error)
	// Credit makes an unlinked refund to a source.
	Credit(ctx context.Context, r Credit) (Response, error)
	// Inquire may undo the request. It decides about a request whose outcome is unknown, so only
	// recovery may call it. A health check or a list that calls it releases a payer's money.
	//
	// Inquire returns the outcome, and whether it was released since, or ErrNotFound. A connector that
	// cannot find a request without an ID reverses it: an approval is then Released.
	//
	// A request that is not found may still be on its way. An acquirer that finds no capture or void
	// by its reference decides by the present state of the payment and its captures. If that state
	// shows no effect, the error is ErrNotFound.
	Inquire(ctx context.Context, about Sent) (Response, error)
}

// Kind is the kind of a request that can move money.
type Kind string

// The kinds of requests.
const (
	Authorization  Kind = "authorization" // reserves money
	Sale           Kind = "sale"          // an authorization that also takes the money
	Capture        Kind = "capture"
	Void           Kind = "void"
	Refund         Kind = "refund" // of captured money
	UnlinkedRefund Kind = "credit"
)

// Sent names a request that an acquirer may have received.
type Sent struct {
	Kind      Kind
	Reference string // ours, the acquirer's idempotency key
	Tag       string // which Prepare returned for it
	ID        string // the acquirer's own id of it, of the last response; "" for none
	Amount    int64  // minor units requested
	Currency  string // ISO 4217, lower case
	// Follow is the request itself if an inquiry or reversal is about a capture or void, else nil.
	// Its Captures are the ones that stand now.
	Follow *Follow
}

// Authorize is a request for money from a payer.
type Authorize struct {
	Reference string // unique per request, the acquirer's idempotency key
	Tag       string // which Prepare returned for it
	Amount    int64  // minor units; 0 checks the card and reserves nothing
	Currency  string // ISO 4217, lower case
	Capture   bool   // take the money immediately when approved; always for a bank account
	Partial   bool   // less than Amount may be approved; otherwise only the whole Amount
	PriorCode string // the issuer's code of an earlier approval, so that no new approval is needed; mostly ""
	Source
	Billing      Billing
	ThreeDSecure ThreeDSecure
	Initiator    Initiator
	Order        Order
}

// Card is the card as the payer gave it. It must not outlive the call.
type Card struct {
	Number   secret.String // digits only
	CVC      secret.String // zero when none was given
	ExpMonth int           // 1 to 12
	ExpYear  int           // four digits
}

// Billing is the payer and the address by which the issuer verifies the payer. Empty fields were
// not given.
type Billing struct {
	FirstName, LastName, Company string
	AddressLine                  string
	AddressLine2                 string
	City, State                  string
	PostalCode                   string
	Country                      string // ISO 3166-1 alpha-2, upper case
	Email, Phone                 string
}

// Order is the merchant's own data about a payment, for the acquirer's records. Empty fields were
// not given.
type Order struct {
	Reference           string // the merchant's name for the payment
	Description         string
	StatementDescriptor string // on the cardholder's statement
	Details             []byte // level 2 and 3 data: the JSON of the contract's Order; nil for none
}

// Follow is a request for a step on an earlier request.
type Follow struct {
	Reference string // unique per request, the acquirer's idempotency key
	Tag       string // which Prepare returned for it
	// Again: an earlier attempt may have reached the acquirer. If the acquirer does not recognize a
	// repeated reference, the connector must find or undo that attempt. It must not send another,
	// unless a second one has no effect.
	Again bool
	// Drop, of a void: Original has an unknown outcome, and shall never have an effect if the acquirer
	// does not have it. Without Drop, Original was approved, without an id if an operator did so.
	Drop bool
	// Original is the request that this step changes: the authorization or sale, and for a reversal
	// also a capture or refund. After its approval, Amount is the approved amount.
	Original Sent
	// Captures are the captures of Original that stand, oldest first. For a refund, it is the one
	// capture that is given back. A sale has none.
	Captures []Sent
	Amount   int64  // minor units; for a void, the authorized amount
	Currency string // ISO 4217, lower case
	Final    bool   // of a capture: it is the last one, and the rest of the authorization is released
	Last4    string // the last digits of the source of Original; "" if unknown
}

// Credit is a request to give money to a card or bank account.
type Credit struct {
	Reference string // unique per request, the acquirer's idempotency key
	Tag       string // which Prepare returned for it
	Amount    int64  // minor units
	Currency  string // ISO 4217, lower case
	Source
	Order Order
}

// Response is the acquirer's response to a request.
type Response struct {
	Approved bool
	ID       string // the acquirer's own id of the request, at most 64 printable ASCII characters; "" for none
	// the issuer's approval code, 6 upper-case letters and digits; also when the acquirer's own
	// checks then declined
	Code                 string
	NetworkTransactionID string // empty if the network gave none
	NetworkLinkID        string // Mastercard's Transaction Link ID, 22 characters; empty for another network
	ResponseCode         string // ISO 8583 field 39, "00" when approved
	DeclineCode          string // one of the contract's decline codes; empty when approved
	OwnCode              string // the acquirer's own code of a decline, at most 64 printable ASCII characters; "" for none
	Network              NetworkDecline
	Amount               int64 // minor units approved; equal to the request's unless partially approved
	Balance              Balance
	ExpiresAt            time.Time // when an uncaptured authorization lapses, UTC; zero if the acquirer set no end
	Checks               Checks
	Released             bool // a void has reversed the approval; only Inquire sets it
	// Retryable, of a declined authorization: a system of the network or the issuer was away. Another
	// account may get the payment then. The connector's table of codes decides.
	Retryable bool
}

// NetworkDecline is a decline by the card network or the issuer, as the acquirer passed it on. The
// zero NetworkDecline is of an approval, or of a decline before the request was processed.
type NetworkDecline struct {
	Given  bool
	Code   string // ISO 8583 field 39; "" if the acquirer did not pass it on
	Advice string // Mastercard's merchant advice code or Visa's category; "" for none
}

// Balance is the rest on a card after a payment. The zero Balance is unknown.
type Balance struct {
	Given  bool
	Amount int64 // minor units of the payment's currency; below 0 when the card is overdrawn
}

// Checks are the issuer's verifications, each a v1 check result: match, no_match, unavailable,
// not_provided or not_processed.
type Checks struct {
	CVC         string
	AddressLine string
	PostalCode  string
	Codes       ResultCodes
}

// ResultCodes are the networks' characters for the checks, one each, unchanged; "" for none.
type ResultCodes struct {
	AVS  string // of the billing address
	CVC  string
	CAVV string // of the 3-D Secure value
}
