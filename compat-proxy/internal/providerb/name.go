package providerb

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
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
	// counted is set when the name counts the answers that reached their client.
	counted bool
	// final is set when a refusal uses the name up too. What the client did not choose names one sending, whatever came of it.
	final bool
	// used is when the login was first used, where the name counts.
	used time.Time
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
	// bound knows when logins were first used, and the headers they came with.
	bound *bound
	now   time.Time
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
	header, used := o.headerName(), o.now
	if caller.Evidence != "" && o.bound != nil {
		first := o.bound.first(o.evidence()+o.place, sight{header, o.now})
		used = first.at
		// For as long as equal signatures may be requests in earnest, their headers tell them apart.
		if caller.Nonce || o.now.Sub(used) >= deliveredFor {
			header = first.header
		}
	}
	switch {
	case header != "":
		return name{text: header, reused: invalid()}
	case caller.Evidence == "":
		return name{}
	case caller.Nonce:
		return name{text: o.evidence() + o.place, reused: invalid(), final: true}
	}
	text := o.evidence() + o.place + "#" + strconv.Itoa(o.earlier)
	return name{text: text, reused: invalid(), counted: true, final: true, used: used}
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

// evidence is what the caller logged in with, told apart by who it is; where that may cover no path, by what is asked for too, since
// then equal requests on different payments log in alike.
func (o origin) evidence() string {
	if o.caller.Nonce {
		return "evidence/" + o.caller.Merchant + "/" + o.caller.Evidence
	}
	return "evidence/" + o.caller.Merchant + "/" + o.target + "/" + o.caller.Evidence
}

// named puts a command under the request's name.
func (c call) named(do command.Command) command.Command {
	if c.name.text == "" {
		return do
	}
	return command.Named{Command: do, Name: c.name.text, Final: c.name.final}
}

// reused is the answer to a request that differs from an earlier one under its name. Some clients take the duplicate for done, so that is only
// for a name under which something was.
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
