package wire

// Answer is the tree of every response but the transaction details; empty members are left out.
type Answer struct {
	Links            *Links                 `json:"_links,omitempty"`
	ID               string                 `json:"id,omitzero"`
	SubmitTimeUTC    string                 `json:"submitTimeUtc,omitzero"` // to the second
	Status           string                 `json:"status,omitzero"`
	Reason           string                 `json:"reason,omitzero"` // of a request that was not processed
	Message          string                 `json:"message,omitzero"`
	Details          []Detail               `json:"details,omitempty"`
	ReconciliationID string                 `json:"reconciliationId,omitzero"`
	ErrorInformation *ErrorInformation      `json:"errorInformation,omitempty"`
	ClientReference  *ClientReferenceAnswer `json:"clientReferenceInformation,omitempty"`
	Reversal         *ReversalAmounts       `json:"reversalAmountDetails,omitempty"`
	Refund           *RefundAmounts         `json:"refundAmountDetails,omitempty"`
	Void             *VoidAmounts           `json:"voidAmountDetails,omitempty"`
	Credit           *CreditAmounts         `json:"creditAmountDetails,omitempty"`
	Authorization    *AuthorizationAnswer   `json:"authorizationInformation,omitempty"`
	Order            *OrderAnswer           `json:"orderInformation,omitempty"`
	PaymentAccount   *PaymentAccount        `json:"paymentAccountInformation,omitempty"`
	Payment          *PaymentAnswer         `json:"paymentInformation,omitempty"`
	Processor        *Processor             `json:"processorInformation,omitempty"`
	Issuer           *Issuer                `json:"issuerInformation,omitempty"`
	Token            *TokenAnswer           `json:"tokenInformation,omitempty"`
}

// Links are where to go on; paths begin with /pts/v2/, without host and mount.
type Links struct {
	Self         *Link `json:"self,omitempty"`
	AuthReversal *Link `json:"authReversal,omitempty"`
	Capture      *Link `json:"capture,omitempty"`
	Refund       *Link `json:"refund,omitempty"`
	Void         *Link `json:"void,omitempty"`
}

// Link is one of them.
type Link struct {
	Href   string `json:"href"`
	Method string `json:"method"`
}

// Detail names a field at fault.
type Detail struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// ErrorInformation is the reason for which a processed request did not go through.
type ErrorInformation struct {
	Reason  string   `json:"reason"`
	Message string   `json:"message,omitzero"`
	Details []Detail `json:"details,omitempty"`
}

// ClientReferenceAnswer echoes the client's name for the request.
type ClientReferenceAnswer struct {
	Code          string `json:"code,omitzero"`
	TransactionID string `json:"transactionId,omitzero"`
}

// ReversalAmounts are the amounts of a reversal.
type ReversalAmounts struct {
	Reversed string `json:"reversedAmount"`
	Original string `json:"originalTransactionAmount,omitzero"`
	Currency string `json:"currency"`
}

// RefundAmounts are the amounts of a refund.
type RefundAmounts struct {
	Refund   string `json:"refundAmount"`
	Currency string `json:"currency"`
}

// VoidAmounts are the amounts of a void.
type VoidAmounts struct {
	Void     string `json:"voidAmount"`
	Original string `json:"originalTransactionAmount,omitzero"`
	Currency string `json:"currency"`
}

// CreditAmounts are the amounts of a credit.
type CreditAmounts struct {
	Credit   string `json:"creditAmount"`
	Currency string `json:"currency"`
}

// AuthorizationAnswer repeats, of a reversal, the authorization that it was of.
type AuthorizationAnswer struct {
	ApprovalCode      string `json:"approvalCode,omitzero"`
	ReasonCode        string `json:"reasonCode,omitzero"`
	ReversalSubmitted string `json:"reversalSubmitted,omitzero"`
}

// OrderAnswer holds the amounts.
type OrderAnswer struct {
	AmountDetails *Amounts `json:"amountDetails,omitempty"`
}

// Amounts are in major units with exactly the decimals of their currency.
type Amounts struct {
	Total         string `json:"totalAmount,omitzero"`
	Authorized    string `json:"authorizedAmount,omitzero"`
	Currency      string `json:"currency,omitzero"`
	RefundBalance string `json:"refundBalance,omitzero"`
}

// PaymentAccount is the payment source.
type PaymentAccount struct {
	Card *CardAnswer `json:"card,omitempty"`
}

// CardAnswer is the part of a card that may be shown.
type CardAnswer struct {
	Prefix          string `json:"prefix,omitzero"`
	Suffix          string `json:"suffix,omitzero"`
	Type            string `json:"type,omitzero"`
	ExpirationMonth string `json:"expirationMonth,omitzero"`
	ExpirationYear  string `json:"expirationYear,omitzero"`
}

// PaymentAnswer is the payment source, in the member that older clients read.
type PaymentAnswer struct {
	TokenizedCard        *CardAnswer       `json:"tokenizedCard,omitempty"`
	Card                 *CardAnswer       `json:"card,omitempty"`
	AccountFeatures      *AccountFeatures  `json:"accountFeatures,omitempty"`
	Customer             *IdentifiedAnswer `json:"customer,omitempty"`
	PaymentInstrument    *IdentifiedAnswer `json:"paymentInstrument,omitempty"`
	InstrumentIdentifier *IdentifiedAnswer `json:"instrumentIdentifier,omitempty"`
	Scheme               string            `json:"scheme,omitzero"`
	AccountType          string            `json:"accountType,omitzero"`
}

// IdentifiedAnswer is an object named by an id.
type IdentifiedAnswer struct {
	ID string `json:"id"`
}

// AccountFeatures hold the balance of a prepaid card.
type AccountFeatures struct {
	BalanceAmount string `json:"balanceAmount,omitzero"`
	BalanceSign   string `json:"balanceSign,omitzero"`
	Currency      string `json:"currency,omitzero"`
}

// Processor is the acquirer's part of the response.
type Processor struct {
	ApprovalCode         string            `json:"approvalCode,omitzero"`
	ResponseCode         string            `json:"responseCode,omitzero"`
	NetworkTransactionID string            `json:"networkTransactionId,omitzero"`
	TransactionID        string            `json:"transactionId,omitzero"`
	AVS                  *AVS              `json:"avs,omitempty"`
	CardVerification     *CardVerification `json:"cardVerification,omitempty"`
	ConsumerAuth         *Code             `json:"consumerAuthenticationResponse,omitempty"`
}

// Code is a result and its raw form.
type Code struct {
	Code string `json:"code,omitzero"`
	Raw  string `json:"codeRaw,omitzero"`
}

// AVS is the result of the address check.
type AVS = Code

// CardVerification is the result of the security code's check.
type CardVerification struct {
	ResultCode    string `json:"resultCode,omitzero"`
	ResultCodeRaw string `json:"resultCodeRaw,omitzero"`
}

// Issuer is the issuer's part of the response.
type Issuer struct {
	ResponseCode string `json:"responseCode,omitzero"`
}

// TokenAnswer names the objects that were stored with a payment.
type TokenAnswer struct {
	Customer             *IdentifiedAnswer `json:"customer,omitempty"`
	PaymentInstrument    *IdentifiedAnswer `json:"paymentInstrument,omitempty"`
	InstrumentIdentifier *IdentifiedAnswer `json:"instrumentIdentifier,omitempty"`
}
