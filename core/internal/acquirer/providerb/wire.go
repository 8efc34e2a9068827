package providerb

import "github.com/causeway-pay/causeway/shared/secret"

// The members of the bodies are the provider's. Empty members are left out.

type requestBody struct {
	ClientReference clientReference  `json:"clientReferenceInformation"`
	Processing      *processing      `json:"processingInformation,omitzero"`
	Payment         *paymentSource   `json:"paymentInformation,omitzero"`
	Order           *order           `json:"orderInformation,omitzero"`
	Merchant        *merchantGroup   `json:"merchantInformation,omitzero"`
	Authentication  *authentication  `json:"consumerAuthenticationInformation,omitzero"`
	Reversal        *reversalDetails `json:"reversalInformation,omitzero"`
}

type clientReference struct {
	Code          string `json:"code"`
	TransactionID string `json:"transactionId"`
	Comments      string `json:"comments,omitzero"`
}

type processing struct {
	Capture           *bool             `json:"capture,omitzero"`
	CommerceIndicator string            `json:"commerceIndicator,omitzero"`
	Authorization     *authOptions      `json:"authorizationOptions,omitzero"`
	CaptureOptions    *captureOptions   `json:"captureOptions,omitzero"`
	Recurring         *recurringOptions `json:"recurringOptions,omitzero"`
	BankTransfer      *bankTransfer     `json:"bankTransferOptions,omitzero"`
}

type authOptions struct {
	AuthType             string           `json:"authType,omitzero"`
	VerbalAuthCode       string           `json:"verbalAuthCode,omitzero"`
	PartialAuthIndicator bool             `json:"partialAuthIndicator,omitzero"`
	IgnoreAVSResult      bool             `json:"ignoreAvsResult,omitzero"`
	IgnoreCVResult       bool             `json:"ignoreCvResult,omitzero"`
	Initiator            *initiatorObject `json:"initiator,omitzero"`
}

type initiatorObject struct {
	Type                   string             `json:"type,omitzero"`
	CredentialStoredOnFile bool               `json:"credentialStoredOnFile,omitzero"`
	StoredCredentialUsed   bool               `json:"storedCredentialUsed,omitzero"`
	MerchantInitiated      *merchantInitiated `json:"merchantInitiatedTransaction,omitzero"`
}

type merchantInitiated struct {
	Reason                string `json:"reason,omitzero"`
	PreviousTransactionID string `json:"previousTransactionId,omitzero"`
}

type captureOptions struct {
	SequenceNumber int    `json:"captureSequenceNumber,omitzero"`
	TotalCount     int    `json:"totalCaptureCount,omitzero"`
	IsFinal        string `json:"isFinal,omitzero"`
}

type recurringOptions struct {
	FirstRecurringPayment bool `json:"firstRecurringPayment"`
}

type bankTransfer struct {
	SECCode string `json:"secCode"`
}

type paymentSource struct {
	Card          *cardObject  `json:"card,omitzero"`
	TokenizedCard *tokenObject `json:"tokenizedCard,omitzero"`
	Bank          *bankObject  `json:"bank,omitzero"`
	PaymentType   *named       `json:"paymentType,omitzero"`
}

type cardObject struct {
	Number          secret.String `json:"number"`
	ExpirationMonth string        `json:"expirationMonth,omitzero"`
	ExpirationYear  string        `json:"expirationYear,omitzero"`
	Type            string        `json:"type,omitzero"`
	SecurityCode    secret.String `json:"securityCode,omitzero"`
}

type tokenObject struct {
	Number          secret.String `json:"number"`
	ExpirationMonth string        `json:"expirationMonth,omitzero"`
	ExpirationYear  string        `json:"expirationYear,omitzero"`
	Type            string        `json:"type,omitzero"`
	Cryptogram      secret.String `json:"cryptogram,omitzero"`
	RequestorID     string        `json:"requestorId,omitzero"`
	TransactionType string        `json:"transactionType,omitzero"`
}

type bankObject struct {
	Account       accountObject `json:"account"`
	RoutingNumber string        `json:"routingNumber"`
}

type accountObject struct {
	Type   string        `json:"type"`
	Number secret.String `json:"number"`
}

type named struct {
	Name string `json:"name"`
}

type order struct {
	Amounts   *amounts   `json:"amountDetails,omitzero"`
	BillTo    *person    `json:"billTo,omitzero"`
	LineItems []lineItem `json:"lineItems,omitempty"`
	Invoice   *invoice   `json:"invoiceDetails,omitzero"`
}

type amounts struct {
	Total    string `json:"totalAmount,omitzero"`
	Currency string `json:"currency,omitzero"`
	Tax      string `json:"taxAmount,omitzero"`
	Duty     string `json:"dutyAmount,omitzero"`
	Freight  string `json:"freightAmount,omitzero"`
	Discount string `json:"discountAmount,omitzero"`
}

type person struct {
	FirstName          string `json:"firstName,omitzero"`
	LastName           string `json:"lastName,omitzero"`
	Company            *named `json:"company,omitzero"`
	Address1           string `json:"address1,omitzero"`
	Address2           string `json:"address2,omitzero"`
	Locality           string `json:"locality,omitzero"`
	AdministrativeArea string `json:"administrativeArea,omitzero"`
	PostalCode         string `json:"postalCode,omitzero"`
	Country            string `json:"country,omitzero"`
	Email              string `json:"email,omitzero"`
	PhoneNumber        string `json:"phoneNumber,omitzero"`
}

type lineItem struct {
	ProductName        string `json:"productName,omitzero"`
	ProductSKU         string `json:"productSku,omitzero"`
	ProductDescription string `json:"productDescription,omitzero"`
	Quantity           int    `json:"quantity"`
	UnitPrice          string `json:"unitPrice"`
}

type invoice struct {
	PurchaseOrderNumber string `json:"purchaseOrderNumber,omitzero"`
	Taxable             *bool  `json:"taxable,omitzero"`
}

type merchantGroup struct {
	Descriptor named `json:"merchantDescriptor"`
}

type authentication struct {
	CAVV                         secret.String `json:"cavv,omitzero"`
	UCAFAuthenticationData       secret.String `json:"ucafAuthenticationData,omitzero"`
	UCAFCollectionIndicator      string        `json:"ucafCollectionIndicator,omitzero"`
	ECIRaw                       string        `json:"eciRaw,omitzero"`
	DirectoryServerTransactionID string        `json:"directoryServerTransactionId,omitzero"`
	SpecificationVersion         string        `json:"paSpecificationVersion,omitzero"`
}

type reversalDetails struct {
	Amounts amounts `json:"amountDetails"`
}

// responseBody has the members of all responses that the connector reads.
type responseBody struct {
	ID               string           `json:"id"`
	Status           string           `json:"status"`
	Reason           string           `json:"reason"`
	Details          []detail         `json:"details"`
	ErrorInformation errorInformation `json:"errorInformation"`
	ClientReference  clientReference  `json:"clientReferenceInformation"`
	Order            struct {
		Amounts responseAmounts `json:"amountDetails"`
	} `json:"orderInformation"`
	Reversal responseAmounts `json:"reversalAmountDetails"`
	Void     responseAmounts `json:"voidAmountDetails"`
	Refund   responseAmounts `json:"refundAmountDetails"`
	Credit   responseAmounts `json:"creditAmountDetails"`
	Payment  struct {
		Features features `json:"accountFeatures"`
	} `json:"paymentInformation"`
	Processor   processor   `json:"processorInformation"`
	Application application `json:"applicationInformation"` // of transaction details
	Response    struct {
		Message string `json:"rmsg"`
	} `json:"response"` // of a failed authentication
}

type detail struct {
	Field string `json:"field"`
}

type errorInformation struct {
	Reason string `json:"reason"`
}

type responseAmounts struct {
	Total      string `json:"totalAmount"`
	Authorized string `json:"authorizedAmount"`
	Reversed   string `json:"reversedAmount"`
	Void       string `json:"voidAmount"`
	Refund     string `json:"refundAmount"`
	Credit     string `json:"creditAmount"`
	Refundable string `json:"refundBalance"` // of transaction details
	Currency   string `json:"currency"`
}

type features struct {
	Balance     string `json:"balanceAmount"`
	BalanceSign string `json:"balanceSign"`
	Currency    string `json:"currency"`
}

type processor struct {
	ApprovalCode         string `json:"approvalCode"`
	TransactionID        string `json:"transactionId"`
	NetworkTransactionID string `json:"networkTransactionId"`
	TransactionLinkID    string `json:"transactionLinkIdentifier"` // Mastercard's
	ResponseCode         string `json:"responseCode"`
	AVS                  struct {
		Code string `json:"code"`
	} `json:"avs"`
	CardVerification struct {
		ResultCode string `json:"resultCode"`
	} `json:"cardVerification"`
	ConsumerAuthentication struct {
		Code string `json:"code"`
	} `json:"consumerAuthenticationResponse"`
	MerchantAdvice struct {
		Code string `json:"code"`
	} `json:"merchantAdvice"`
}

type application struct {
	Status string `json:"status"`
}
