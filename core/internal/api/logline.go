package api

import (
	"bytes"
	"net/http"
	"slices"

	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/id"
)

// loggedPrefixes are the prefixes of ids that log lines may contain. A token's is not among them,
// because its whole id is a credential.
var loggedPrefixes = []id.Prefix{
	id.Transaction, id.Capture, id.Refund, id.Customer, id.PaymentMethod, id.ShippingAddress, id.APIKey, id.WebhookEndpoint, id.Event, id.Delivery,
	id.Merchant,
}

// isLoggedID reports whether text is exactly an id that a log line may contain. Any other text of a
// client could be a secret.
func isLoggedID(text string) bool {
	return slices.ContainsFunc(loggedPrefixes, func(p id.Prefix) bool {
		_, err := id.Parse(p, text)
		return err == nil
	})
}

// logAddressed puts the id in the path into the request's log line, and into the log line of a
// trusted hop in front.
func logAddressed(w http.ResponseWriter, r *http.Request) {
	if text, err := pathSegment(r, "id"); err == nil && isLoggedID(text) {
		httpx.SetID(w, r, httpx.WordAddressed, text)
	}
}

// logObject puts the id of the object that a response shows into the request's log line. A trusted
// hop in front gets it for its log line, too. The object is the one that was created or changed, or
// the transaction of a decline.
func logObject(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	text := ""
	if status >= http.StatusBadRequest {
		if !bytes.Contains(body, []byte(`"transaction":{`)) {
			return
		}
		text = resourceOf(body)
	} else if rest, found := bytes.CutPrefix(body, []byte(`{"id":"`)); found {
		if end := bytes.IndexByte(rest, '"'); end > 0 {
			text = string(rest[:end])
		}
	}
	if text != "" && isLoggedID(text) {
		httpx.SetID(w, r, httpx.WordObject, text)
	}
}
