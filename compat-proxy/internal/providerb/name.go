package providerb

import (
	"net/http"
	"strconv"

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
	// counted is set when the name counts the answers that reached their client.
	counted bool
}

// transactionName is the name of a request that the client gave a transaction id of its own. Timeout reversals find the payment by it.
func transactionName(caller auth.Caller, transactionID string) string {
	return "transaction/" + caller.Merchant + "/" + transactionID
}

// origin is where a request came from, besides what it asks for.
type origin struct {
	header http.Header
	caller auth.Caller
	// target is the operation with the number in its path. What a header names is told apart by it.
	target string
	// place tells apart calls that came in one request, and so with one header and one login; "" for one that came alone.
	place string
	// earlier is how many answers to a login that may be repeated in earnest have reached their client.
	earlier int
}

// name finds the request's name: by the client's transaction id, else a header of the client's, else what it logged in with.
func (o origin) name(req *wire.Request) name {
	caller := o.caller
	if id := string(req.ClientReference.TransactionID); id != "" {
		taken := problem{Reason: reasonDuplicate, Fields: []string{"clientReferenceInformation.transactionId"}}
		return name{text: transactionName(caller, id), reused: taken}
	}
	for _, h := range nameHeaders {
		if value := o.header.Get(h); value != "" {
			return name{text: "header/" + caller.Merchant + "/" + o.target + "/" + value + o.place, reused: invalid()}
		}
	}
	switch {
	case caller.Evidence == "":
		return name{}
	case caller.Nonce:
		return name{text: evidenceOf(caller) + o.place, reused: invalid()}
	}
	return name{text: evidenceOf(caller) + o.place + "#" + strconv.Itoa(o.earlier), reused: invalid(), counted: true}
}

// evidenceOf is what a caller logged in with, told apart by who it is.
func evidenceOf(caller auth.Caller) string {
	return "evidence/" + caller.Merchant + "/" + caller.Evidence
}

// named puts a command under the request's name.
func (c call) named(do command.Command) command.Command {
	if c.name.text == "" {
		return do
	}
	return command.Named{Command: do, Name: c.name.text}
}

// reused is the answer to a request that differs from an earlier one under its name.
func (c call) reused() answer { return c.name.reused.answer(c.now) }
