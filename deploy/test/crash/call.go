package crash

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Kind is the command of a request.
type Kind string

// The commands of v1 that write.
const (
	Create          Kind = "create"
	Update          Kind = "update"
	Confirm         Kind = "confirm"
	Capture         Kind = "capture"
	Void            Kind = "void"
	Refund          Kind = "refund"
	Settle          Kind = "settle"
	Expire          Kind = "expire"
	SettlementRun   Kind = "settlement run"
	ClockAdvance    Kind = "clock advance"
	TokenCreate     Kind = "token"
	CustomerCreate  Kind = "customer"
	CustomerUpdate  Kind = "customer update"
	CustomerDelete  Kind = "customer delete"
	MethodAttach    Kind = "attach"
	MethodDetach    Kind = "detach"
	KeyCreate       Kind = "api key"
	KeyRoll         Kind = "api key roll"
	KeyRevoke       Kind = "api key revoke"
	EndpointCreate  Kind = "endpoint"
	EndpointUpdate  Kind = "endpoint update"
	EndpointDelete  Kind = "endpoint delete"
	SecretRoll      Kind = "secret roll"
	EventRedelivery Kind = "redelivery"
)

// kinds are all commands.
var kinds = []Kind{
	Create, Update, Confirm, Capture, Void, Refund, Settle, Expire, SettlementRun, ClockAdvance, TokenCreate,
	CustomerCreate, CustomerUpdate, CustomerDelete, MethodAttach, MethodDetach, KeyCreate, KeyRoll, KeyRevoke,
	EndpointCreate, EndpointUpdate, EndpointDelete, SecretRoll, EventRedelivery,
}

// Missing names the commands that were never acknowledged.
func (f Figures) Missing() []string {
	var out []string
	for _, k := range kinds {
		if f.ByKind[k] == 0 {
			out = append(out, string(k))
		}
	}
	return out
}

// Call is one request. Only the scenario that makes it, and then Recover, change it.
type Call struct {
	Kind   Kind
	Method string
	Path   string
	Body   string
	Marker string // of the object that it makes
	Key    string // idempotency key, "" for none
	Auth   string // API key, "" for the merchant's secret key
	On     string // id of the object that it concerns, "" if it makes one

	Twin  bool // is sent a second time at the same time, as by a client after its timeout
	Hangs bool // the acquirer does not respond in time

	route *client // nil for the first

	Response *Response // nil until it arrived
	Lost     bool      // the process died before the response arrived
}

// Response is a response of v1.
type Response struct {
	Status   int
	Body     string
	Replayed bool
}

// again reports whether a retry cannot have a second effect.
func (c *Call) again() bool { return c.Key != "" || c.Method != http.MethodPost }

// maybe reports whether it is unknown if the request had its effect.
func (c *Call) maybe() bool { return c.Response == nil || c.Response.open() }

// token returns the id of the token that the request uses, "" if it uses none.
func (c *Call) token() string {
	_, rest, found := strings.Cut(c.Body, `"tok_`)
	if !found {
		return ""
	}
	number, _, _ := strings.Cut(rest, "_") // the secret part of the token's value follows the id
	return "tok_" + number
}

// ok reports whether it was acknowledged.
func (c *Call) ok() bool { return c.Response != nil && c.Response.ok() }

// declined reports whether the acquirer declined the payment.
func (a *Response) declined() bool { return a.Status == http.StatusPaymentRequired }

func (a *Response) ok() bool { return a.Status == http.StatusOK || a.Status == http.StatusCreated }

// open reports whether the response leaves the outcome unknown, so that the client must retry.
func (a *Response) open() bool {
	return a.Status == http.StatusGatewayTimeout || a.is("idempotency_key_in_use") || a.lost()
}

// lost reports whether a program on the way returns an error because it has no response: the
// request may have had its effect, or none.
func (a *Response) lost() bool {
	return a.is("response_lost") || a.is("store_unavailable") || a.is("service_unavailable") || a.is("mle_unavailable")
}

// busy reports whether the response only requires a later retry.
func (a *Response) busy() bool {
	return a.is("idempotency_key_in_use") || a.is("operation_in_progress") || a.is("overloaded") || a.throttled()
}

// throttled reports whether the request was refused only because there are too many.
func (a *Response) throttled() bool { return a.is("rate_limited") || a.is("too_many_changes") }

// is reports whether it is the error of that code.
func (a *Response) is(code string) bool {
	return !a.ok() && strings.Contains(a.Body, `"code":"`+code+`"`)
}

// kept reports whether v1 keeps this response under the request's key.
func (a *Response) kept() bool {
	if a.ok() || a.Status == http.StatusPaymentRequired {
		return true
	}
	for _, code := range []string{
		"transaction_not_", "transaction_changed", "amount_exceeds_", "key_not_rollable",
	} {
		if strings.Contains(a.Body, `"code":"`+code) {
			return true
		}
	}
	return false
}

// decode decodes JSON, or returns the zero value: the judge finds a missing value.
func decode[T any, S ~string | ~[]byte](text S) T {
	var into T
	_ = json.Unmarshal([]byte(text), &into)
	return into
}

// idOf returns the id of an object.
func idOf[S ~string | ~[]byte](object S) string {
	return decode[struct {
		ID string `json:"id"`
	}](object).ID
}

// read decodes the response, or returns the zero value.
func read[T any](a *Response) T {
	if a == nil {
		return *new(T)
	}
	return decode[T](a.Body)
}

// id returns the id of the object in the response.
func (a *Response) id() string { return idOf(a.Body) }

// value returns the paying value of the token in the response.
func (a *Response) value() string {
	if v := read[v1.Token](a).Value; v != nil {
		return v.Reveal()
	}
	return ""
}

// transaction returns the transaction in a response: the object itself, or the one in its error.
func (a *Response) transaction() v1.Transaction {
	if a.ok() {
		return read[v1.Transaction](a)
	}
	if t := read[v1.ErrorBody](a).Error.Transaction; t != nil {
		return *t
	}
	return v1.Transaction{}
}
