package providerb

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
)

// The headers by which a client may name a request, the first that is there.
var nameHeaders = []string{"V-C-Idempotency-Id", "V-C-Idempotency-Key"}

// name is what makes a request the same as another: what comes again under the same name has no effect of its own. It is empty for a request
// that nothing tells from others.
type name struct {
	text string
	// reused is the refusal to another request under the same name.
	reused problem
	// final is set if a refusal uses the name up too. A name that the client did not choose names one
	// sending, whatever its outcome.
	final bool
	// bound ties the request's evidence to text, if the login does not sign the header that gives
	// text, or the merchant.
	bound command.Binding
	// evidence is spent by a refusal under a name that the client chose.
	evidence string
}

// transactionName is the name of a request that the client gave a transaction id of its own. Timeout reversals find the payment by it.
func transactionName(caller auth.Caller, transactionID string) string {
	return "transaction/" + caller.Merchant + "/" + transactionID
}

// origin is where a request came from, besides what it asks for.
type origin struct {
	header http.Header
	caller auth.Caller
	// target is the operation, with the number in the path. It distinguishes requests under one header.
	target string
	// place tells apart calls that came in one request, and so with one header and one login; "" for one that came alone.
	place string
}

// name returns the request's name. It binds the evidence to the name if the login does not sign the
// header that gives the name, or the merchant. A recorded request cannot be sent under another one.
// Evidence of a login that covers no path was bound before: see Handler.bind.
func (o origin) name(req *wire.Request) name {
	n := o.chosen(req)
	if n.text != "" && !n.final && strings.HasPrefix(o.target, voidTarget) {
		// A reversal under the same name is another request. Evidence covers the operation, and its
		// name stays the one that is bound.
		n.text += "/void"
	}
	if o.caller.Evidence != "" && !n.final {
		n.evidence = o.evidence() + o.place
	}
	switch {
	case o.caller.Evidence == "" || n.text == "" || o.caller.Pathless:
	case !o.caller.Witness.IsZero() || o.inHeader(req):
		n.bound = o.binding()
		n.bound.Evidence += o.place
	}
	return n
}

// binding returns the evidence, to be bound under the witness if the login does not sign the
// merchant.
func (o origin) binding() command.Binding {
	if !o.caller.Witness.IsZero() {
		return command.Binding{Evidence: "portfolio/" + o.caller.Login + "/" + o.caller.Evidence, Witness: o.caller.Witness}
	}
	return command.Binding{Evidence: o.evidence()}
}

// purpose is all of the request that a login does not cover if it covers no path. The calls of a
// batch came in one body, which is covered.
func (o origin) purpose() []string {
	target := o.target
	if o.place != "" {
		target = "batch"
	}
	return []string{o.caller.Merchant, target, o.headerValue()}
}

// bind reserves the evidence of a login that covers no path for this operation. It returns false,
// with the response, if the evidence came with another operation before, or v1 does not tell.
func (h *Handler) bind(ctx context.Context, o origin, now time.Time) (answer, bool) {
	if !o.caller.Pathless {
		return answer{}, true
	}
	r := h.cfg.Executor.Bind(ctx, o.caller.Grant.APIKey, o.binding(), o.purpose())
	if r.Outcome == command.Done {
		return answer{}, true
	}
	if out, known := (call{now: now}).followFault(r, ""); known {
		return out, false
	}
	return failed(now, reasonSystem, textSystem), false
}

// chosen returns the name by the client's transaction id, else by its header, else by its evidence.
func (o origin) chosen(req *wire.Request) name {
	if id := string(req.ClientReference.TransactionID); id != "" {
		taken := problem{Reason: reasonDuplicate, Fields: []string{"clientReferenceInformation.transactionId"}}
		return name{text: transactionName(o.caller, id), reused: taken}
	}
	switch header := o.headerName(); {
	case header != "":
		return name{text: header, reused: invalid()}
	case o.caller.Evidence != "":
		return name{text: o.evidence() + o.place, reused: invalid(), final: true}
	}
	return name{}
}

// inHeader reports whether the request is named by a header.
func (o origin) inHeader(req *wire.Request) bool {
	return req.ClientReference.TransactionID == "" && o.headerName() != ""
}

// headerName is the name by the client's header; "" without one.
func (o origin) headerName() string {
	value := o.headerValue()
	if value == "" {
		return ""
	}
	return "header/" + o.caller.Merchant + "/" + o.target + "/" + value + o.place
}

// headerValue is the value of the client's header, shortened; "" without one.
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

// evidence returns the nonce or signature of the caller's login, for its merchant.
func (o origin) evidence() string { return "evidence/" + o.caller.Merchant + "/" + o.caller.Evidence }

// named puts a command under the request's name.
func (c call) named(do command.Command) command.Command {
	if c.name.text == "" {
		return do
	}
	return command.Named{Command: do, Name: c.name.text, Final: c.name.final, Bound: c.name.bound, Evidence: c.name.evidence}
}

// reused is the answer to a request that differs from an earlier one under its name. Some clients take the duplicate for done, so that is only
// for a name under which something was done.
func (c call) reused(r command.Result) answer {
	if r.Code == command.CodeNameSpent {
		return invalid(c.name.reused.Fields...).answer(c.now)
	}
	return c.name.reused.answer(c.now)
}

// takesName reports whether r says that the name is another request's.
func takesName(r command.Result) bool {
	return r.Code == command.CodeKeyReused || r.Code == command.CodeNameSpent
}
