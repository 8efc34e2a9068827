package providerb

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"

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
}

// transactionName is the name of a request that the client gave a transaction id of its own. Timeout reversals find the payment by it.
func transactionName(caller auth.Caller, transactionID string) string {
	return "transaction/" + caller.Merchant + "/" + transactionID
}

// origin is where a request came from, besides what it asks for.
type origin struct {
	header http.Header
	caller auth.Caller
	// target is what is done, with the number in the path. What a header names is told apart by it, and what a login names that covers no path.
	target string
	// place tells apart calls that came in one request, and so with one header and one login; "" for one that came alone.
	place string
}

// name returns the request's name. It binds the evidence to the name if the login does not sign the
// header that gives the name, or the merchant. A recorded request cannot be sent under another one.
func (o origin) name(req *wire.Request) name {
	n := o.chosen(req)
	switch {
	case o.caller.Evidence == "" || n.text == "":
	case !o.caller.Witness.IsZero():
		n.bound = command.Binding{Evidence: o.evidence("portfolio/" + o.caller.Login), Witness: o.caller.Witness}
	case o.inHeader(req):
		n.bound = command.Binding{Evidence: o.evidence("evidence/" + o.caller.Merchant)}
	}
	return n
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
		return name{text: o.evidence("evidence/" + o.caller.Merchant), reused: invalid(), final: true}
	}
	return name{}
}

// inHeader reports whether the request is named by a header.
func (o origin) inHeader(req *wire.Request) bool {
	return req.ClientReference.TransactionID == "" && o.headerName() != ""
}

// headerName is the name by the client's header; "" when there is none.
func (o origin) headerName() string {
	const longest = 256
	for _, h := range nameHeaders {
		value := o.header.Get(h)
		if len(value) > longest {
			sum := sha256.Sum256([]byte(value))
			value = "sha256:" + base64.RawStdEncoding.EncodeToString(sum[:])
		}
		if value != "" {
			return "header/" + o.caller.Merchant + "/" + o.target + "/" + value + o.place
		}
	}
	return ""
}

// evidence returns the nonce or signature of the caller's login, for the login or merchant in of.
// For a login that may cover no path it includes the operation and its target, because equal
// requests on different payments then log in alike.
func (o origin) evidence(of string) string {
	if !o.caller.Nonce {
		of += "/" + o.target
	}
	return of + "/" + o.caller.Evidence + o.place
}

// named puts a command under the request's name.
func (c call) named(do command.Command) command.Command {
	if c.name.text == "" {
		return do
	}
	return command.Named{Command: do, Name: c.name.text, Final: c.name.final, Bound: c.name.bound}
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
