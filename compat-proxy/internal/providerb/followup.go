package providerb

import (
	"cmp"
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
)

// echo returns the client's reference of the request. The default is the time of the object, in
// milliseconds.
func (c call) echo(made time.Time) *wire.ClientReferenceResponse {
	own := c.req.ClientReference
	return &wire.ClientReferenceResponse{
		Code: cmp.Or(string(own.Code), milliseconds(made)), TransactionID: string(own.TransactionID),
	}
}

// declinedFollowUp returns the response if the acquirer declined a follow-up operation, or
// certainly would. Clients require a number in it, so it has a new number that v1 does not store.
func (h *Handler) declinedFollowUp(c call, reason string) response {
	return response{status: http.StatusCreated, body: wire.Response{
		ID: h.cfg.NewNumber(), SubmitTimeUTC: stamp(c.now), Status: statusDeclined, ClientReference: c.echo(c.now),
		ErrorInformation: &wire.ErrorInformation{Reason: reason, Message: declineTexts[reason]},
	}, outcome: reason}
}
