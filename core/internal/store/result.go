package store

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/payment"
)

// resultColumn is the stored form of payment.Result. It is one column of JSON, because no statement
// makes a decision by it.
type resultColumn struct {
	Reached              bool   `json:"reached,omitzero"`
	AcquirerID           string `json:"acquirer_id,omitzero"`
	DeclineCode          string `json:"decline_code,omitzero"`
	FailureCode          string `json:"failure_code,omitzero"`
	FailureMessage       string `json:"failure_message,omitzero"`
	Code                 string `json:"code,omitzero"`
	NetworkTransactionID string `json:"network_transaction_id,omitzero"`
	NetworkLinkID        string `json:"network_link_id,omitzero"`
	ResponseCode         string `json:"response_code,omitzero"`
	ExpiresAt            int64  `json:"expires_at,omitzero"`
	Balance              *int64 `json:"balance,omitzero"`
	CheckCVC             string `json:"check_cvc,omitzero"`
	CheckAddressLine     string `json:"check_address_line,omitzero"`
	CheckPostalCode      string `json:"check_postal_code,omitzero"`
	AVSCode              string `json:"avs_code,omitzero"`
	CVCCode              string `json:"cvc_code,omitzero"`
	CAVVCode             string `json:"cavv_code,omitzero"`
}

func encodeResult(r *payment.Result) (string, error) {
	b, err := json.Marshal(resultColumn{
		Reached: r.Reached, AcquirerID: r.AcquirerID,
		DeclineCode: r.DeclineCode, FailureCode: r.FailureCode, FailureMessage: r.FailureMessage,
		Code: r.Code, NetworkTransactionID: r.NetworkTransactionID, NetworkLinkID: r.NetworkLinkID,
		ResponseCode: r.ResponseCode,
		ExpiresAt:    toMillis(r.ExpiresAt), Balance: r.Balance,
		CheckCVC: r.CheckCVC, CheckAddressLine: r.CheckAddressLine, CheckPostalCode: r.CheckPostalCode,
		AVSCode: r.AVSCode, CVCCode: r.CVCCode, CAVVCode: r.CAVVCode,
	})
	if err != nil {
		return "", fmt.Errorf("encode result: %w", err)
	}
	return string(b), nil
}

func decodeResult(b []byte, r *payment.Result) error {
	var c resultColumn
	if err := json.Unmarshal(b, &c); err != nil {
		return fmt.Errorf("decode result: %w", err)
	}
	*r = payment.Result{
		Reached: c.Reached, AcquirerID: c.AcquirerID,
		DeclineCode: c.DeclineCode, FailureCode: c.FailureCode, FailureMessage: c.FailureMessage,
		Code: c.Code, NetworkTransactionID: c.NetworkTransactionID, NetworkLinkID: c.NetworkLinkID,
		ResponseCode: c.ResponseCode,
		ExpiresAt:    fromMillis(c.ExpiresAt), Balance: c.Balance,
		CheckCVC: c.CheckCVC, CheckAddressLine: c.CheckAddressLine, CheckPostalCode: c.CheckPostalCode,
		AVSCode: c.AVSCode, CVCCode: c.CVCCode, CAVVCode: c.CAVVCode,
	}
	return nil
}
