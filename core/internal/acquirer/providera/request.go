package providera

import "encoding/xml"

// The elements of requests, in the order of the schema: the provider refuses any other order. The
// account's credentials are the only part that a command does not have.

type login struct {
	Name string `xml:"name"`
	Key  string `xml:"transactionKey"`
}

type createTransactionRequest struct {
	XMLName     xml.Name    `xml:"AnetApi/xml/v1/schema/AnetApiSchema.xsd createTransactionRequest"`
	Login       login       `xml:"merchantAuthentication"`
	RefID       string      `xml:"refId"`
	Transaction transaction `xml:"transactionRequest"`
}

type transaction struct {
	Type           string             `xml:"transactionType"`
	Amount         string             `xml:"amount,omitempty"`
	Currency       string             `xml:"currencyCode,omitempty"`
	Payment        *payment           `xml:"payment"`
	AuthCode       string             `xml:"authCode,omitempty"`
	Original       string             `xml:"refTransId,omitempty"`
	Order          *order             `xml:"order"`
	LineItems      *lineItems         `xml:"lineItems"`
	Tax            *extendedAmount    `xml:"tax"`
	Duty           *extendedAmount    `xml:"duty"`
	Shipping       *extendedAmount    `xml:"shipping"`
	TaxExempt      *bool              `xml:"taxExempt"`
	PurchaseOrder  string             `xml:"poNumber,omitempty"`
	Customer       *customer          `xml:"customer"`
	BillTo         *billTo            `xml:"billTo"`
	Authentication *authentication    `xml:"cardholderAuthentication"`
	Settings       *settings          `xml:"transactionSettings"`
	Descriptor     string             `xml:"merchantDescriptor,omitempty"`
	Processing     *processingOptions `xml:"processingOptions"`
	Subsequent     *subsequentAuth    `xml:"subsequentAuthInformation"`
}

type payment struct {
	Card *creditCard  `xml:"creditCard"`
	Bank *bankAccount `xml:"bankAccount"`
}

type creditCard struct {
	Number         string `xml:"cardNumber"`
	Expiration     string `xml:"expirationDate"`
	Code           string `xml:"cardCode,omitempty"`
	IsToken        *bool  `xml:"isPaymentToken"`
	Cryptogram     string `xml:"cryptogram,omitempty"`
	TokenRequestor string `xml:"tokenRequestorId,omitempty"`
	TokenECI       string `xml:"tokenRequestorEci,omitempty"`
}

type bankAccount struct {
	Type    string `xml:"accountType,omitempty"`
	Routing string `xml:"routingNumber"`
	Number  string `xml:"accountNumber"`
	Holder  string `xml:"nameOnAccount"`
	Check   string `xml:"echeckType,omitempty"`
}

type order struct {
	Invoice     string `xml:"invoiceNumber"`
	Description string `xml:"description,omitempty"`
	Discount    string `xml:"discountAmount,omitempty"`
}

type lineItems struct {
	Items []lineItem `xml:"lineItem"`
}

type lineItem struct {
	ID          string `xml:"itemId"`
	Name        string `xml:"name"`
	Description string `xml:"description,omitempty"`
	Quantity    string `xml:"quantity"`
	UnitPrice   string `xml:"unitPrice"`
	Taxable     *bool  `xml:"taxable"`
}

type extendedAmount struct {
	Amount string `xml:"amount"`
}

type customer struct {
	Email string `xml:"email"`
}

type billTo struct {
	FirstName string `xml:"firstName,omitempty"`
	LastName  string `xml:"lastName,omitempty"`
	Company   string `xml:"company,omitempty"`
	Address   string `xml:"address,omitempty"`
	City      string `xml:"city,omitempty"`
	State     string `xml:"state,omitempty"`
	Zip       string `xml:"zip,omitempty"`
	Country   string `xml:"country,omitempty"`
	Phone     string `xml:"phoneNumber,omitempty"`
}

type authentication struct {
	Indicator string `xml:"authenticationIndicator"`
	Value     string `xml:"cardholderAuthenticationValue"`
}

type settings struct {
	Settings []setting `xml:"setting"`
}

type setting struct {
	Name  string `xml:"settingName"`
	Value string `xml:"settingValue"`
}

type processingOptions struct {
	FirstRecurring  *bool `xml:"isFirstRecurringPayment"`
	FirstSubsequent *bool `xml:"isFirstSubsequentAuth"`
	Subsequent      *bool `xml:"isSubsequentAuth"`
	Stored          *bool `xml:"isStoredCredentials"`
}

type subsequentAuth struct {
	NetworkTransactionID string `xml:"originalNetworkTransId,omitempty"`
	Reason               string `xml:"reason,omitempty"`
}

// The reading methods.

type authenticateTestRequest struct {
	XMLName xml.Name `xml:"AnetApi/xml/v1/schema/AnetApiSchema.xsd authenticateTestRequest"`
	Login   login    `xml:"merchantAuthentication"`
}

type detailsRequest struct {
	XMLName xml.Name `xml:"AnetApi/xml/v1/schema/AnetApiSchema.xsd getTransactionDetailsRequest"`
	Login   login    `xml:"merchantAuthentication"`
	ID      string   `xml:"transId"`
}

type unsettledListRequest struct {
	XMLName xml.Name `xml:"AnetApi/xml/v1/schema/AnetApiSchema.xsd getUnsettledTransactionListRequest"`
	Login   login    `xml:"merchantAuthentication"`
	Sorting sorting  `xml:"sorting"`
	Paging  paging   `xml:"paging"`
}

type batchListRequest struct {
	XMLName xml.Name `xml:"AnetApi/xml/v1/schema/AnetApiSchema.xsd getSettledBatchListRequest"`
	Login   login    `xml:"merchantAuthentication"`
	First   string   `xml:"firstSettlementDate"`
	Last    string   `xml:"lastSettlementDate"`
}

type transactionListRequest struct {
	XMLName xml.Name `xml:"AnetApi/xml/v1/schema/AnetApiSchema.xsd getTransactionListRequest"`
	Login   login    `xml:"merchantAuthentication"`
	Batch   string   `xml:"batchId"`
	Sorting sorting  `xml:"sorting"`
	Paging  paging   `xml:"paging"`
}

type sorting struct {
	By         string `xml:"orderBy"`
	Descending bool   `xml:"orderDescending"`
}

type paging struct {
	Limit int `xml:"limit"`
	Page  int `xml:"offset"` // from 1
}
