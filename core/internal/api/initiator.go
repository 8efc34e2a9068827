package api

import (
	"github.com/causeway-pay/causeway/core/internal/acquirer"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// linkIDLength is the length of Mastercard's Transaction Link ID.
const linkIDLength = 22

// initiatorFault checks the party that initiates a payment, and its reason. A merchant must give
// one of the networks' reasons. Some reasons are only for merchants.
func initiatorFault(in *v1.Initiator) *fault {
	switch {
	case in == nil:
		return nil
	case in.Type == "":
		return &fault{code: codeMissingField, param: "initiator.type"}
	case !in.Type.Valid():
		return &fault{code: codeInvalidValue, param: "initiator.type", message: "The initiator must be \"customer\" or \"merchant\"."}
	case in.Reason != nil && !in.Reason.Valid():
		return &fault{code: codeInvalidValue, param: "initiator.reason", message: "There is no such reason. Check its name."}
	case in.Reason == nil && in.Type == v1.InitiatorTypeMerchant:
		return &fault{code: codeMissingField, param: "initiator.reason", message: "A payment that the merchant initiates must have a reason."}
	case in.Reason != nil && in.Type == v1.InitiatorTypeCustomer && merchantsAlone(*in.Reason):
		return &fault{code: codeInvalidValue, param: "initiator.reason", message: "This reason is only for payments that the merchant initiates."}
	case in.PreviousNetworkTransactionID != nil && !printable(*in.PreviousNetworkTransactionID):
		return &fault{
			code: codeInvalidValue, param: "initiator.previous_network_transaction_id",
			message: "The id must have 1 to 64 printable ASCII characters without spaces.",
		}
	case in.PreviousNetworkLinkID != nil && (!printable(*in.PreviousNetworkLinkID) || len(*in.PreviousNetworkLinkID) != linkIDLength):
		return &fault{
			code: codeInvalidValue, param: "initiator.previous_network_link_id",
			message: "The id must have 22 printable ASCII characters without spaces.",
		}
	}
	return nil
}

// merchantsAlone reports whether only a merchant can have the reason, because the customer takes no
// part.
func merchantsAlone(r v1.InitiatorReason) bool {
	switch r {
	case v1.InitiatorReasonResubmission, v1.InitiatorReasonDelayedCharge, v1.InitiatorReasonReauthorization, v1.InitiatorReasonNoShow:
		return true
	case v1.InitiatorReasonRecurring, v1.InitiatorReasonInstallment, v1.InitiatorReasonUnscheduled:
	}
	return false
}

// initiator returns the initiator as the acquirer gets it.
func initiator(in *v1.Initiator) acquirer.Initiator {
	if in == nil {
		return acquirer.Initiator{}
	}
	out := acquirer.Initiator{
		Type: string(in.Type), PreviousNetworkTransactionID: v1.Text(in.PreviousNetworkTransactionID),
		PreviousNetworkLinkID: v1.Text(in.PreviousNetworkLinkID),
	}
	if in.Reason != nil {
		out.Reason = string(*in.Reason)
	}
	return out
}
