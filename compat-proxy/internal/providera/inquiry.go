package providera

import (
	"context"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

const getTransactionDetailsResponse = "getTransactionDetailsResponse"

// inquire serves a getTransactionDetailsRequest.
func (h *Handler) inquire(ctx context.Context, c call) (*wire.Document, problem) {
	r := h.execute(ctx, c, command.Get{Target: number(c.req.Root.Get("transId")), Day: true})
	return details(c.req, c.basis, r)
}

// details builds the response to a getTransactionDetailsRequest. It is pure.
func details(req *wire.Request, basis basis, r command.Result) (*wire.Document, problem) {
	if p := detailsProblem(r); !p.none() {
		return refusal(getTransactionDetailsResponse, req.RefID, p), p
	}
	record := newRecord(r.Transaction, r.Refund, basis.zone)
	if len(r.Days) > 0 {
		record.day = &r.Days[0]
	}
	own := []*wire.Element{record.element()}
	if id := req.Root.Get("clientId"); id != "" {
		own = append(own, wire.TextElement("clientId", id))
	}
	if ref := record.metadata["client_reference"]; ref != "" {
		own = append(own, wire.TextElement("transrefId", cut(ref, maxRefID)))
	}
	return document(getTransactionDetailsResponse, req.RefID, wire.ResultOK, refuse(apiOK), own...), problem{}
}

// maxRefID is the dialect's limit of a refId. Metadata of a v1 merchant may be longer.
const maxRefID = 20

// detailsProblem returns the problem if there is no record to show.
func detailsProblem(r command.Result) problem {
	switch {
	case r.Outcome == command.NotFound, r.Outcome == command.Done && isUnconfirmed(r.Transaction):
		return refuse(apiNoRecord)
	case r.Outcome == command.Done:
		return problem{}
	case r.Outcome == command.Refused && r.Status == 401:
		return refuse(apiBadLogin)
	case r.Code == v1.CodeMerchantDisabled:
		return refuse(apiInactive)
	case r.Outcome == command.Refused && r.Status == 403:
		return problem{API: apiAccessDenied, Text: detailsForbidden}
	}
	if p := unavailable(r); p.API != "" {
		return p
	}
	return refuse(apiProcessing)
}

// isUnconfirmed reports whether a payment of another API waits for its payer's confirmation, or was
// canceled before it. Clients of the dialect do not see such a payment.
func isUnconfirmed(t *v1.Transaction) bool {
	return t != nil && (t.Status == v1.TransactionStatusRequiresConfirmation ||
		t.Status == v1.TransactionStatusCanceled)
}
