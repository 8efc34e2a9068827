package wire

// Response is the body of every response except the transaction details. Empty members are omitted.
type Response struct {
	Links            *Links                   `json:"_links,omitempty"`
	ID               string                   `json:"id,omitzero"`
	SubmitTimeUTC    string                   `json:"submitTimeUtc,omitzero"` // to the second
	Status           string                   `json:"status,omitzero"`
	Reason           string                   `json:"reason,omitzero"` // of a request that was not processed
	Message          string                   `json:"message,omitzero"`
	Details          []Detail                 `json:"details,omitempty"`
	ReconciliationID string                   `json:"reconciliationId,omitzero"`
	ErrorInformation *ErrorInformation        `json:"errorInformation,omitempty"`
	ClientReference  *ClientReferenceResponse `json:"clientReferenceInformation,omitempty"`
	Reversal         *ReversalAmounts         `json:"reversalAmountDetails,omitempty"`
	Refund           *RefundAmounts           `json:"refundAmountDetails,omitempty"`
	Void             *VoidAmounts             `json:"voidAmountDetails,omitempty"`
	Credit           *CreditAmounts           `json:"creditAmountDetails,omitempty"`
	Authorization    *AuthorizationResponse   `json:"authorizationInformation,omitempty"`
	Order            *OrderResponse           `json:"orderInformation,omitempty"`
	PaymentAccount   *PaymentAccount          `json:"paymentAccountInformation,omitempty"`
	Payment          *PaymentResponse         `json:"paymentInformation,omitempty"`
	PointOfSale      *PointOfSaleResponse     `json:"pointOfSaleInformation,omitempty"`
	Processor        *Processor               `json:"processorInformation,omitempty"`
	Issuer           *Issuer                  `json:"issuerInformation,omitempty"`
	Token            *TokenResponse           `json:"tokenInformation,omitempty"`
}

// Links are the paths of the next operations, without a host, to which Mount adds the mount path.
// The paths of stored objects are the provider's, which are not served here.
type Links struct {
	Self         *Link `json:"self,omitempty"`
	AuthReversal *Link `json:"authReversal,omitempty"`
	Capture      *Link `json:"capture,omitempty"`
	Refund       *Link `json:"refund,omitempty"`
	Void         *Link `json:"void,omitempty"`

	Customer             *Link `json:"customer,omitempty"`
	PaymentInstrument    *Link `json:"paymentInstrument,omitempty"`
	ShippingAddress      *Link `json:"shippingAddress,omitempty"`
	InstrumentIdentifier *Link `json:"instrumentIdentifier,omitempty"`
}

// Link is the path and the HTTP method of an operation.
type Link struct {
	Href   string `json:"href"`
	Method string `json:"method"`
}

// Mount puts the mount path before each link of an operation. The receiver may be nil.
func (l *Links) Mount(prefix string) {
	if l != nil {
		mount(prefix, l.Self, l.AuthReversal, l.Capture, l.Refund, l.Void)
	}
}

// mount puts the mount path before links; nil stands for no link.
func mount(prefix string, links ...*Link) {
	for _, l := range links {
		if l != nil {
			l.Href = prefix + l.Href
		}
	}
}

// Detail is an invalid or missing field.
type Detail struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// ErrorInformation is the reason why a processed request had no effect.
type ErrorInformation struct {
	Reason  string   `json:"reason"`
	Message string   `json:"message,omitzero"`
	Details []Detail `json:"details,omitempty"`
}

// ClientReferenceResponse repeats the client's reference of the request.
type ClientReferenceResponse struct {
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

// AuthorizationResponse is the authorization that a reversal released.
type AuthorizationResponse struct {
	ApprovalCode      string `json:"approvalCode,omitzero"`
	ReasonCode        string `json:"reasonCode,omitzero"`
	ReversalSubmitted string `json:"reversalSubmitted,omitzero"`
}

// OrderResponse holds the amounts of the payment.
type OrderResponse struct {
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
	Card *CardResponse `json:"card,omitempty"`
}

// CardResponse holds the fields of a card that are not secret.
type CardResponse struct {
	Prefix          string `json:"prefix,omitzero"`
	Suffix          string `json:"suffix,omitzero"`
	Type            string `json:"type,omitzero"`
	ExpirationMonth string `json:"expirationMonth,omitzero"`
	ExpirationYear  string `json:"expirationYear,omitzero"`
}

// PaymentResponse is the payment source in the member that older clients read.
type PaymentResponse struct {
	TokenizedCard        *CardResponse         `json:"tokenizedCard,omitempty"`
	Card                 *CardResponse         `json:"card,omitempty"`
	AccountFeatures      *AccountFeatures      `json:"accountFeatures,omitempty"`
	Customer             *IdentifiedResponse   `json:"customer,omitempty"`
	PaymentInstrument    *IdentifiedResponse   `json:"paymentInstrument,omitempty"`
	InstrumentIdentifier *InstrumentIdentifier `json:"instrumentIdentifier,omitempty"`
	ShippingAddress      *IdentifiedResponse   `json:"shippingAddress,omitempty"`
	Scheme               string                `json:"scheme,omitzero"`
	AccountType          string                `json:"accountType,omitzero"`
}

// IdentifiedResponse is a reference to an object by its id.
type IdentifiedResponse struct {
	ID string `json:"id"`
}

// InstrumentIdentifier is a reference to a stored card or bank account, with its state.
type InstrumentIdentifier struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

// AccountFeatures holds the balance of a prepaid card.
type AccountFeatures struct {
	BalanceAmount string `json:"balanceAmount,omitzero"`
	BalanceSign   string `json:"balanceSign,omitzero"`
	Currency      string `json:"currency,omitzero"`
}

// PointOfSaleResponse repeats the terminal of the request.
type PointOfSaleResponse struct {
	TerminalID string `json:"terminalId"`
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

// Code is a result code, and the acquirer's form of it.
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

// TokenResponse holds the ids of the objects that were stored with a payment.
type TokenResponse struct {
	// New reports that the card or bank account was not stored before. The provider spells it so.
	New                  bool                  `json:"instrumentidentifierNew"`
	Customer             *IdentifiedResponse   `json:"customer,omitempty"`
	PaymentInstrument    *IdentifiedResponse   `json:"paymentInstrument,omitempty"`
	ShippingAddress      *IdentifiedResponse   `json:"shippingAddress,omitempty"`
	InstrumentIdentifier *InstrumentIdentifier `json:"instrumentIdentifier,omitempty"`
}
