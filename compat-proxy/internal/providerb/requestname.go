package providerb

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/idempotency"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The provider's headers that name a request without an Idempotency-Key. The first one that is
// present counts.
var nameHeaders = []string{"V-C-Idempotency-Id", "V-C-Idempotency-Key"}

// requestName identifies a request: a later request under the same name is a retry without an
// effect. It is empty for a request without identification.
type requestName struct {
	text string
	// reused is the refusal to another request under the same name.
	reused problem
	// final is set if a refusal uses the name too. That holds for names that the client did not
	// choose, because each of them stands for one sent request.
	final bool
	// bound ties the request's evidence to text, if the login does not sign the header with text, or
	// the merchant.
	bound command.Binding
	// evidence is spent by a refusal under a name that the client chose.
	evidence string
}

// transactionName returns the name of a request with a transaction id of its client. Timeout
// reversals find the payment by it.
func transactionName(caller auth.Caller, transactionID string) string {
	return "transaction/" + caller.Merchant + "/" + transactionID
}

// origin holds the parts of a request besides its body.
type origin struct {
	header http.Header
	caller auth.Caller
	// key is the Idempotency-Key of a POST request, "" without one.
	key string
	// target is the operation, with the number in the path. It distinguishes requests under one
	// header.
	target string
	// shared is the operation without the number, if the login authenticates it at several ids. It is
	// "" for any other request, and for a call by RPC, which has the number in its body.
	shared string
	// position distinguishes calls of one batch request, which share a header and a login. It is ""
	// for a single call.
	position string
}

// name returns the request's name. It binds the evidence to the name if the login does not sign the
// header with the name, or the merchant. So a recorded request cannot be sent under another one.
// The evidence of a login that covers no path is bound already, except for the header of a shared
// operation: see Handler.bind.
func (o origin) name(req *wire.Request) requestName {
	n := o.chosen(req)
	if n.text != "" && !n.final && strings.HasPrefix(o.target, voidTarget) {
		// A reversal under the same name is another request. Evidence covers the operation, so a name by
		// evidence stays as it is.
		n.text += "/void"
	}
	if o.caller.Evidence != "" && !n.final {
		n.evidence = o.evidence() + o.position
	}
	switch {
	case o.caller.Evidence == "" || n.text == "":
	case o.shared != "":
		if o.namedByHeader(req) {
			n.bound = command.Binding{Evidence: o.evidence()}
		}
	case o.caller.Pathless:
	case !o.caller.EvidenceKey.IsZero() || o.namedByHeader(req):
		n.bound = o.binding()
		n.bound.Evidence += o.position
	}
	return n
}

// binding returns the evidence. It is bound under the witness if the login does not sign the
// merchant.
func (o origin) binding() command.Binding {
	if !o.caller.EvidenceKey.IsZero() {
		return command.Binding{
			Evidence:    "portfolio/" + o.caller.Login + "/" + o.caller.Evidence,
			EvidenceKey: o.caller.EvidenceKey,
		}
	}
	return command.Binding{Evidence: o.loginEvidence()}
}

// purpose returns the parts of the request that a login does not cover if it covers no path. The
// login of a batch covers its body, and so its calls. A login for several ids is bound to its
// operation here, and to the header for each id by its name.
func (o origin) purpose() []string {
	if o.shared != "" {
		return []string{o.caller.Merchant, o.shared}
	}
	target := o.target
	if o.position != "" {
		target = "batch"
	}
	purpose := []string{o.caller.Merchant, target, o.headerValue()}
	if o.key != "" {
		purpose = append(purpose, o.key)
	}
	return purpose
}

// bind reserves the evidence of a login that covers no path for this operation. It returns false,
// with the response, if the evidence came with another operation before, or the reservation fails.
func (h *Handler) bind(ctx context.Context, o origin, now time.Time) (response, bool) {
	if !o.caller.Pathless {
		return response{}, true
	}
	r := h.cfg.Executor.Bind(ctx, o.caller.Grant.APIKey, o.binding(), o.purpose())
	if r.Outcome == command.Done {
		return response{}, true
	}
	if nameTaken(r) {
		return refused(now, textUsedToken, "Authorization"), false
	}
	if out, known := (call{now: now}).followUpProblem(r, ""); known {
		return out, false
	}
	return serverError(now, reasonSystem, textSystem), false
}

// textUsedToken begins like each INVALID_DATA message, and names the cause and the remedy.
const textUsedToken = textInvalid + ": the signed token was used for another operation. " +
	"Sign the request again in a later second, or with another clientReferenceInformation.code or jti."

// bindKey reserves the request's Idempotency-Key for its operation and body. It returns false, with
// the response, if the key came with others before, or the reservation fails.
func (h *Handler) bindKey(c call, o origin) (response, bool) {
	if o.key == "" {
		return response{}, true
	}
	text, err := contentOf(*c.req)
	if err != nil {
		return serverError(c.now, reasonSystem, textSystem), false
	}
	r := h.cfg.Executor.Bind(c.ctx, c.caller.Grant.APIKey, command.Binding{Evidence: o.keyName()},
		[]string{o.target, text})
	if r.Outcome == command.Done {
		return response{}, true
	}
	c.name.reused = invalid(idempotency.Header)
	if out, known := c.followUpProblem(r, ""); known {
		return out, false
	}
	return serverError(c.now, reasonSystem, textSystem), false
}

// revealed writes the secrets of a request in the clear.
var revealed = json.WithMarshalers(json.MarshalToFunc(func(e *jsontext.Encoder, h wire.Hidden) error {
	return e.WriteToken(jsontext.String(h.Reveal()))
}))

// contentOf returns the text by which two bodies under one Idempotency-Key are compared. It is all
// that the proxy reads, but without security codes: no value that depends on one is kept. It has
// card numbers in full; see command.Comparable.
func contentOf(r wire.Request) (string, error) {
	r.Payment.Card.SecurityCode, r.Payment.TokenizedCard.SecurityCode = wire.Hidden{}, wire.Hidden{}
	text, err := json.Marshal(r, revealed)
	return string(text), err
}

// keyName returns the name by the Idempotency-Key.
func (o origin) keyName() string {
	return "key/b/" + o.caller.Merchant + "/" + o.position + "/" + o.key
}

// chosen returns the name by the client's transaction id, else by its Idempotency-Key or another
// header, else by its evidence. A timeout reversal finds a payment by its transaction id, so that
// comes first. The Idempotency-Key is bound to it: see Handler.bindKey.
func (o origin) chosen(req *wire.Request) requestName {
	if id := string(req.ClientReference.TransactionID); id != "" {
		taken := problem{Reason: reasonDuplicate, Fields: []string{"clientReferenceInformation.transactionId"}}
		return requestName{text: transactionName(o.caller, id), reused: taken}
	}
	switch header := o.headerName(); {
	case o.key != "":
		return requestName{text: o.keyName(), reused: invalid(idempotency.Header)}
	case header != "":
		return requestName{text: header, reused: invalid()}
	case o.caller.Evidence != "":
		return requestName{text: o.evidence() + o.position, reused: invalid(), final: true}
	}
	return requestName{}
}

// namedByHeader reports whether a header names the request.
func (o origin) namedByHeader(req *wire.Request) bool {
	return req.ClientReference.TransactionID == "" && (o.key != "" || o.headerName() != "")
}

// headerName returns the name in the client's header, or "" if there is none.
func (o origin) headerName() string {
	value := o.headerValue()
	if value == "" {
		return ""
	}
	return "header/" + o.caller.Merchant + "/" + o.target + "/" + value + o.position
}

// headerValue returns the value of the client's header, shortened; "" without one.
func (o origin) headerValue() string {
	const longest = 256
	for _, h := range nameHeaders {
		value := o.header.Get(h)
		if len(value) > longest {
			sum := sha256.Sum256([]byte(value))
			value = "sha256:" + base64.RawStdEncoding.EncodeToString(sum[:])
		}
		if value != "" {
			return value
		}
	}
	return ""
}

// loginEvidence returns the nonce or signature of the caller's login, for its merchant.
func (o origin) loginEvidence() string {
	return "evidence/" + o.caller.Merchant + "/" + o.caller.Evidence
}

// evidence returns the evidence of the request: loginEvidence, with the target if the same login
// can come with several targets.
func (o origin) evidence() string {
	if o.shared != "" {
		return o.loginEvidence() + "\n" + o.target
	}
	return o.loginEvidence()
}

// named puts a command under the request's name.
func (c call) named(do command.Command) command.Command {
	if c.name.text == "" {
		return do
	}
	return command.Named{
		Command: do, Name: c.name.text, Final: c.name.final, Bound: c.name.bound,
		Evidence: c.name.evidence,
	}
}

// reused returns the response to a request that differs from an earlier one under its name. Some
// clients treat a duplicate as a success, so DUPLICATE_REQUEST requires that the earlier request
// had an effect.
func (c call) reused(r command.Result) response {
	if r.Code == command.CodeNameSpent {
		return invalid(c.name.reused.Fields...).response(c.now)
	}
	return c.name.reused.response(c.now)
}

// nameTaken reports whether r means that the name belongs to another request.
func nameTaken(r command.Result) bool {
	return r.Code == v1.CodeKeyReused || r.Code == command.CodeNameSpent
}
