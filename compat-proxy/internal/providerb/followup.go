package providerb

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
)

// followUps are the operations on existing objects, and credits.
var followUps = []operation{
	post(catalogue.CapturePayment, "payments/{id}/captures", "payments:capture", command.PaymentCapture, capture),
	post(catalogue.ReversePayment, "payments/{id}/reversals", "payments:authorize", command.PaymentVoid, reverse),
	post(catalogue.RefundPayment, "payments/{id}/refunds", "refunds:create", command.PaymentRefund, refund),
	post("refundCapture", "captures/{id}/refunds", "refunds:create", command.PaymentRefund, refund),
	post("voidPayment", "payments/{id}/voids", "payments:authorize", command.PaymentVoid, void),
	post("voidCapture", "captures/{id}/voids", "payments:authorize", command.PaymentVoid, void),
	post("createCredit", "credits", "refunds:create", command.PaymentRefund, credit),
	post("voidRefund", "refunds/{id}/voids", "payments:authorize", "", voidRefund),
	post("voidCredit", "credits/{id}/voids", "payments:authorize", "", voidRefund),
	post("reverseByTransactionId", "reversals", "payments:authorize", command.PaymentVoid, reverseNamed),
	post("voidByTransactionId", "voids", "payments:authorize", command.PaymentVoid, voidNamed),
	read("getTransaction", "tss/v2/transactions/{id}"),
	read("getPayment", "pts/v2/payments/{id}"),
	read("getCapture", "pts/v2/captures/{id}"),
	read("getRefund", "pts/v2/refunds/{id}"),
	read("getCredit", "pts/v2/credits/{id}"),
	read("getReversal", "pts/v2/reversals/{id}"),
	read("getVoid", "pts/v2/voids/{id}"),
}

// read returns an operation without an effect.
func read(name, path string) operation {
	return operation{
		name: name, httpMethod: http.MethodGet, path: strings.Split(path, "/"), scopes: []string{"transactions:read"},
		run: details,
	}
}

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
