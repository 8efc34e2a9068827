package wire

// Request is the body of every request, with the members that the proxy reads. The operations share
// it, and each reads its part. Other members are ignored. A member that is null or missing is its
// zero value.
type Request struct {
	ClientReference        ClientReference        `json:"clientReferenceInformation"`
	Processing             Processing             `json:"processingInformation"`
	Payment                Payment                `json:"paymentInformation"`
	Order                  Order                  `json:"orderInformation"`
	Buyer                  Buyer                  `json:"buyerInformation"`
	Device                 Device                 `json:"deviceInformation"`
	Merchant               Merchant               `json:"merchantInformation"`
	ConsumerAuthentication ConsumerAuthentication `json:"consumerAuthenticationInformation"`
	MerchantDefined        []MerchantDefined      `json:"merchantDefinedInformation"`
	Installment            Installment            `json:"installmentInformation"`
	Token                  TokenInput             `json:"tokenInformation"`
	Reversal               Reversal               `json:"reversalInformation"`
	PointOfSale            PointOfSale            `json:"pointOfSaleInformation"`
}

// ClientReference holds the client's references of a request.
type ClientReference struct {
	Code Text `json:"code"`
	// TransactionID is unique for each request of the client.
	TransactionID    Text `json:"transactionId"`
	ReconciliationID Text `json:"reconciliationId"`
	Comments         Text `json:"comments"`
}

// Processing holds the options of a request.
type Processing struct {
	Capture              Flag                 `json:"capture"`
	CommerceIndicator    Text                 `json:"commerceIndicator"`
	ActionList           []Text               `json:"actionList"`
	ActionTokenTypes     []Text               `json:"actionTokenTypes"`
	PaymentSolution      Text                 `json:"paymentSolution"`
	ReconciliationID     Text                 `json:"reconciliationId"`
	LinkID               Text                 `json:"linkId"`
	PurchaseLevel        Text                 `json:"purchaseLevel"`
	AuthorizationOptions AuthorizationOptions `json:"authorizationOptions"`
	CaptureOptions       CaptureOptions       `json:"captureOptions"`
	RefundOptions        RefundOptions        `json:"refundOptions"`
	RecurringOptions     RecurringOptions     `json:"recurringOptions"`
	BankTransferOptions  BankTransferOptions  `json:"bankTransferOptions"`
	PurchaseOptions      PurchaseOptions      `json:"purchaseOptions"`
}

// PurchaseOptions are the options of a purchase.
type PurchaseOptions struct {
	Benefits Flag `json:"isElectronicBenefitsTransfer"`
}

// AuthorizationOptions are the options of an authorization.
type AuthorizationOptions struct {
	AuthType             Text      `json:"authType"`
	VerbalAuthCode       Text      `json:"verbalAuthCode"`
	AuthIndicator        Text      `json:"authIndicator"`
	PartialAuthIndicator Flag      `json:"partialAuthIndicator"`
	BalanceInquiry       Flag      `json:"balanceInquiry"`
	IgnoreAVSResult      Flag      `json:"ignoreAvsResult"`
	DeclineAVSFlags      []Text    `json:"declineAvsFlags"`
	IgnoreCVResult       Flag      `json:"ignoreCvResult"`
	Initiator            Initiator `json:"initiator"`
}

// Initiator is the party that started the payment, and the agreement.
type Initiator struct {
	Type                 Text                 `json:"type"`
	CredentialStored     Flag                 `json:"credentialStoredOnFile"`
	StoredCredentialUsed Flag                 `json:"storedCredentialUsed"`
	MerchantInitiated    MerchantInitiatedTxn `json:"merchantInitiatedTransaction"`
}

// MerchantInitiatedTxn is the payer's agreement to a merchant-initiated payment.
type MerchantInitiatedTxn struct {
	Reason                   Text `json:"reason"`
	PreviousTransactionID    Text `json:"previousTransactionId"`
	OriginalAuthorizedAmount Text `json:"originalAuthorizedAmount"`
}

// CaptureOptions give the position of a capture among several.
type CaptureOptions struct {
	SequenceNumber Text `json:"captureSequenceNumber"`
	TotalCount     Text `json:"totalCaptureCount"`
	IsFinal        Flag `json:"isFinal"`
	Notes          Text `json:"notes"`
}

// RefundOptions holds the reason of a refund.
type RefundOptions struct {
	Reason Text `json:"reason"`
}

// RecurringOptions mark the payment of a loan, and the first payment of an agreement.
type RecurringOptions struct {
	LoanPayment           Flag `json:"loanPayment"`
	FirstRecurringPayment Flag `json:"firstRecurringPayment"`
}

// BankTransferOptions are the options of bank debits.
type BankTransferOptions struct {
	SECCode      Text `json:"secCode"`
	CustomerMemo Text `json:"customerMemo"`
}

// Buyer is the merchant's customer.
type Buyer struct {
	MerchantCustomerID Text `json:"merchantCustomerId"`
	VATRegistration    Text `json:"vatRegistrationNumber"`
	CompanyTaxID       Text `json:"companyTaxId"`
}

// Device is the payer's device.
type Device struct {
	IPAddress            Text `json:"ipAddress"`
	FingerprintSessionID Text `json:"fingerprintSessionId"`
}

// Merchant is the seller.
type Merchant struct {
	Descriptor   Descriptor `json:"merchantDescriptor"`
	CategoryCode Text       `json:"categoryCode"`
}

// Descriptor is the merchant's name on the cardholder's statement.
type Descriptor struct {
	Name               Text `json:"name"`
	AlternateName      Text `json:"alternateName"`
	Contact            Text `json:"contact"`
	Locality           Text `json:"locality"`
	AdministrativeArea Text `json:"administrativeArea"`
	Country            Text `json:"country"`
	PostalCode         Text `json:"postalCode"`
}

// ConsumerAuthentication is the result of an authentication of the payer.
type ConsumerAuthentication struct {
	CAVV                         Hidden `json:"cavv"`
	ECIRaw                       Text   `json:"eciRaw"`
	ECI                          Text   `json:"eci"`
	UCAFCollectionIndicator      Text   `json:"ucafCollectionIndicator"`
	UCAFAuthenticationData       Hidden `json:"ucafAuthenticationData"`
	XID                          Text   `json:"xid"`
	PARESStatus                  Text   `json:"paresStatus"`
	VERESEnrolled                Text   `json:"veresEnrolled"`
	DirectoryServerTransactionID Text   `json:"directoryServerTransactionId"`
	SpecificationVersion         Text   `json:"paSpecificationVersion"`
	AuthenticationTransactionID  Text   `json:"authenticationTransactionId"`
	ReferenceID                  Text   `json:"referenceId"`
	SignedPARES                  Text   `json:"signedPares"`
}

// MerchantDefined is one of the merchant-defined fields.
type MerchantDefined struct {
	Key   Text `json:"key"`
	Value Text `json:"value"`
}

// Installment is the position of a payment in an installment plan.
type Installment struct {
	Sequence   Text `json:"sequence"`
	TotalCount Text `json:"totalCount"`
}

// TokenInput holds the tokens of the provider's browser library.
type TokenInput struct {
	JTI               Text   `json:"jti"`
	TransientTokenJWT Hidden `json:"transientTokenJwt"`
}

// Reversal holds the amount that a reversal releases.
type Reversal struct {
	AmountDetails AmountDetails `json:"amountDetails"`
	Reason        Text          `json:"reason"`
}

// PointOfSale holds the data of a terminal.
type PointOfSale struct {
	TerminalID   Text   `json:"terminalId"`
	TrackData    Hidden `json:"trackData"`
	EncryptedPIN Hidden `json:"encryptedPin"`
}
