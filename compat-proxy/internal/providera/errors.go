package providera

import (
	"strconv"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

// apiCode is a code of the response's envelope.
type apiCode string

// The envelope codes of this package. Package wire has the codes that precede a method, such as
// schema faults.
const (
	apiOK                    apiCode = "I00001"
	apiNoRows                apiCode = "I00004"
	apiProcessing            apiCode = wire.CodeProcessing
	apiNoKey                 apiCode = "E00005"
	apiNoName                apiCode = "E00006"
	apiBadLogin              apiCode = "E00007"
	apiInactive              apiCode = "E00008"
	apiNotPermitted          apiCode = "E00010"
	apiAccessDenied          apiCode = "E00011"
	apiFieldInvalid          apiCode = "E00013"
	apiFieldMissing          apiCode = "E00014"
	apiCardLength            apiCode = "E00015"
	apiUnsuccessful          apiCode = "E00027"
	apiNoPayment             apiCode = "E00029"
	apiDuplicate             apiCode = "E00039"
	apiNoRecord              apiCode = "E00040"
	apiEmptyProfile          apiCode = "E00041"
	apiTooManyPayments       apiCode = "E00042"
	apiTooManyAddresses      apiCode = "E00043"
	apiOtherProfile          apiCode = "E00051"
	apiBusy                  apiCode = "E00053"
	apiAuthForm              apiCode = "E00059"
	apiType                  apiCode = "E00060"
	apiProfileWithCreate     apiCode = "E00088"
	apiCreateWithoutPayment  apiCode = "E00089"
	apiProfileWithPayment    apiCode = "E00090"
	apiProfileIDWithPayment  apiCode = "E00091"
	apiShippingWithShipTo    apiCode = "E00092"
	apiProfileWithBillTo     apiCode = "E00093"
	apiPageTooFar            apiCode = "E00094"
	apiNoSource              apiCode = "E00099"
	apiSourceType            apiCode = "E00100"
	apiNoCreation            apiCode = "E00101"
	apiNoCustomerInfo        apiCode = "E00102"
	apiNotStorable           apiCode = "E00103"
	apiProfileIDWithCustomer apiCode = "E00108"
	apiOpaqueToken           apiCode = "E00114"
	apiPartsWithCreate       apiCode = "E00120"
	apiNoDefault             apiCode = "E00121"
	apiAccessToken           apiCode = "E00124"
	detailsForbidden                 = "Access denied. You do not have permissions to call the Transaction Details API."
)

// apiText holds the fixed text of each envelope code.
var apiText = map[apiCode]string{ //nolint:gosec // the texts mention credentials and contain none
	apiOK:                   "Successful.",
	apiNoRows:               "No records found.",
	apiProcessing:           wire.TextProcessing,
	apiNoKey:                "The transaction key or API key is invalid or not present.",
	apiNoName:               "The API user name is invalid or not present.",
	apiBadLogin:             "User authentication failed due to invalid authentication values.",
	apiInactive:             "User authentication failed. The account or API user is inactive.",
	apiNotPermitted:         "User authentication failed. You do not have the appropriate permissions.",
	apiAccessDenied:         "Access denied. You do not have the appropriate permissions.",
	apiUnsuccessful:         "The transaction was unsuccessful.",
	apiNoRecord:             "The record cannot be found.",
	apiFieldInvalid:         "The field is invalid.",
	apiFieldMissing:         "A required field is not present.",
	apiCardLength:           "The field length is invalid for Card Number.",
	apiNoPayment:            "Payment information is required.",
	apiDuplicate:            "A duplicate record already exists.",
	apiEmptyProfile:         "One or more fields in the profile must contain a value.",
	apiTooManyPayments:      "You cannot add more than 10 payment profiles.",
	apiTooManyAddresses:     "You cannot add more than 100 shipping addresses.",
	apiOtherProfile:         "The original transaction was not issued for this payment profile.",
	apiProfileWithCreate:    "ProfileIds cannot be sent when requesting CreateProfile.",
	apiCreateWithoutPayment: "Payment data is required when requesting CreateProfile.",
	apiProfileWithPayment:   "PaymentProfile cannot be sent with payment data.",
	apiProfileIDWithPayment: "PaymentProfileId cannot be sent with payment data.",
	apiShippingWithShipTo:   "ShippingProfileId cannot be sent with ShipTo data.",
	apiProfileWithBillTo:    "PaymentProfile cannot be sent with billing data.",
	apiPageTooFar:           "Paging Offset exceeds the maximum allowed value.",
	apiNoSource:             "Customer profile creation failed. This transaction ID is invalid.",
	apiSourceType: "Customer profile creation failed. This transaction type does not support profile " +
		"creation.",
	apiNoCreation:            "Customer profile creation failed.",
	apiProfileIDWithCustomer: "CustomerProfileId cannot be sent with customer data.",
	apiNoCustomerInfo:        "Customer Info is missing.",
	apiNotStorable:           "Customer profile creation failed. This payment method does not support profile creation.",
	apiPartsWithCreate:       "Payment and Shipping Profile IDs cannot be specified when creating new profiles.",
	apiNoDefault:             "No default payment/shipping profile found.",
	apiBusy:                  "Server too busy",
	apiAuthForm:              "The authentication type is not allowed for this method call.",
	apiType:                  "The transaction type is invalid.",
	apiOpaqueToken:           "Invalid OTS Token.",
	apiAccessToken:           "The provided access token is invalid",
}

// responseCode is the outcome class of a transaction.
type responseCode string

// The outcome classes in use.
const (
	approved responseCode = "1"
	declined responseCode = "2"
	failed   responseCode = "3"
	held     responseCode = "4"
)

// reason is a reason code. reasons holds its class and text.
type reason int

// The reason codes of this package.
const (
	reasonApproved            reason = 1
	reasonDeclined            reason = 2
	reasonReferral            reason = 3
	reasonPickUp              reason = 4
	reasonAmount              reason = 5
	reasonCardNumber          reason = 6
	reasonExpiration          reason = 7
	reasonExpired             reason = 8
	reasonRouting             reason = 9
	reasonAccount             reason = 10
	reasonDuplicate           reason = 11
	reasonNoAuthCode          reason = 12
	reasonReferenceInvalid    reason = 15
	reasonNotFound            reason = 16
	reasonCardType            reason = 17
	reasonProcessing          reason = 19
	reasonAddressMismatch     reason = 27
	reasonBlank               reason = 33
	reasonMerchantSetup       reason = 35
	reasonCurrency            reason = 39
	reasonNotForChecks        reason = 53
	reasonField               reason = 42
	reasonOverCapture         reason = 47
	reasonMaximum             reason = 49
	reasonNotCreditable       reason = 54
	reasonOverCredit          reason = 55
	reasonNotApproved         reason = 64
	reasonCardCodeMismatch    reason = 65
	reasonNotAccepted         reason = 66
	reasonAuthCode            reason = 72
	reasonDuty                reason = 74
	reasonFreight             reason = 75
	reasonTax                 reason = 76
	reasonCardCode            reason = 78
	reasonTrack1              reason = 88
	reasonTrack2              reason = 89
	reasonIndicator           reason = 116
	reasonAuthenticationValue reason = 117
	reasonCryptogram          reason = 156
	reasonVoidOfCredit        reason = 175
	reasonUnderReview         reason = 193
	reasonCheckAccount        reason = 244
	reasonReview              reason = 252
	reasonLineItem            reason = 270
	reasonIncomplete          reason = 290
	reasonLineItems           reason = 271
	reasonPartial             reason = 295
	reasonSplitTender         reason = 296
	reasonSplitAndReference   reason = 297
	reasonSplitEnded          reason = 298
	reasonAlreadyVoided       reason = 310
	reasonAlreadyCaptured     reason = 311
)

// reasonRow is the contract's row of one reason code.
type reasonRow struct {
	class responseCode
	text  string
}

const (
	textDeclined   = "This transaction has been declined."
	textProcessing = "An error occurred during processing.  Please try again."
)

// reasons is the table of reason codes.
var reasons = map[reason]reasonRow{
	reasonApproved:         {approved, "This transaction has been approved."},
	reasonDeclined:         {declined, textDeclined},
	reasonReferral:         {declined, textDeclined},
	reasonPickUp:           {declined, textDeclined},
	reasonAmount:           {failed, "A valid amount is required."},
	reasonCardNumber:       {failed, "The credit card number is invalid."},
	reasonExpiration:       {failed, "Credit card expiration date is invalid."},
	reasonExpired:          {failed, "The credit card has expired."},
	reasonDuplicate:        {failed, "A duplicate transaction has been submitted."},
	reasonReferenceInvalid: {failed, "The transaction ID is invalid or not present."},
	reasonNotFound:         {failed, "The transaction cannot be found."},
	reasonCardType:         {failed, "The merchant does not accept this type of credit card."},
	reasonProcessing:       {failed, textProcessing},
	reasonAddressMismatch: {declined, "The transaction has been declined because of an AVS mismatch. " +
		"The address provided does not match billing address of cardholder."},
	reasonBlank:         {failed, "A valid referenced transaction ID is required."},
	reasonMerchantSetup: {failed, "An error occurred during processing. Call Merchant Service Provider."},
	reasonCurrency: {failed, "The supplied currency code is either invalid, not supported, not allowed " +
		"for this merchant " +
		"or doesn't have an exchange rate."},
	reasonField: {failed, "There is missing or invalid information in a required field."},
	reasonOverCapture: {failed, "The amount requested for settlement cannot be greater than the original amount " +
		"authorized."},
	reasonMaximum:       {failed, "The transaction amount submitted was greater than the maximum amount allowed."},
	reasonNotCreditable: {failed, "The referenced transaction does not meet the criteria for issuing a credit."},
	reasonOverCredit: {failed, "The sum of credits against the referenced transaction would exceed original debit " +
		"amount."},
	reasonNotApproved:      {failed, "The referenced transaction was not approved."},
	reasonCardCodeMismatch: {declined, textDeclined},
	reasonNotAccepted:      {failed, "This transaction cannot be accepted for processing."},
	reasonDuty:             {failed, "The duty amount is invalid."},
	reasonFreight:          {failed, "The freight amount is invalid."},
	reasonTax:              {failed, "The tax amount is invalid."},
	reasonCardCode:         {failed, "The card code is invalid."},
	reasonVoidOfCredit:     {failed, "This processor does not allow voiding of credits."},
	reasonUnderReview:      {held, "The transaction is currently under review."},
	reasonReview:           {held, "Your order has been received. Thank you for your business!"},
	reasonLineItem:         {failed, "A line item is invalid."},
	reasonLineItems: {failed, "The number of line items submitted is not allowed. " +
		"A maximum of 30 line items can be submitted."},
	reasonRouting:             {failed, "The ABA code is invalid"},
	reasonAccount:             {failed, "The account number is invalid"},
	reasonNotForChecks:        {failed, "The transaction type is invalid for ACH transactions."},
	reasonTrack1:              {failed, "Track1 data is not in the correct format."},
	reasonTrack2:              {failed, "Track2 data is not in the correct format."},
	reasonIndicator:           {failed, "The authentication indicator is invalid."},
	reasonAuthenticationValue: {failed, "The cardholder authentication value is invalid."},
	reasonCryptogram:          {failed, "The cryptogram is invalid."},
	reasonCheckAccount:        {failed, "This eCheck.Net type is not allowed for this Bank Account Type."},
	reasonNoAuthCode:          {failed, "An authorization code is required but not present."},
	reasonAuthCode:            {failed, "The authorization code is invalid."},
	reasonIncomplete:          {failed, "There is one or more missing or invalid required fields."},
	reasonPartial: {held, "The amount of this request was only partially approved on the given prepaid card. " +
		"An additional payment is required to fulfill the balance of this transaction."},
	reasonSplitTender:       {failed, "The specified SplitTenderID is invalid."},
	reasonSplitAndReference: {failed, "Transaction ID and Split Tender ID cannot both be used in the same request."},
	reasonSplitEnded: {failed, "This order has already been released or voided therefore new transaction associations " +
		"cannot be accepted."},
	reasonAlreadyVoided:   {approved, "This transaction has already been voided."},
	reasonAlreadyCaptured: {approved, "This transaction has already been captured."},
}

// problem is the reason why a request is not approved. It is an envelope code if the transaction
// was not judged, else a reason. The zero value is no problem. Text replaces the table's text if it
// depends on the request.
type problem struct {
	API    apiCode `json:"api,omitempty"`
	Reason reason  `json:"reason,omitempty"`
	Text   string  `json:"text,omitempty"`
}

func (p problem) none() bool { return p == problem{} }

func refuse(code apiCode) problem { return problem{API: code} }

func because(r reason) problem { return problem{Reason: r} }

// blank returns reason 33 for a required field.
func blank(field string) problem {
	return problem{Reason: reasonBlank, Text: field + " cannot be left blank."}
}

// apiMessage returns the text of an envelope problem.
func (p problem) apiMessage() string {
	if p.Text != "" {
		return p.Text
	}
	return apiText[p.API]
}

// reasonMessage returns the class and text of a reason problem.
func (p problem) reasonMessage() (responseCode, string) {
	row, known := reasons[p.Reason]
	if !known {
		row = reasons[reasonProcessing]
	}
	if p.Text != "" {
		row.text = p.Text
	}
	return row.class, row.text
}

// lineItemInvalid returns reason 270 for the line item at that position, counted from 1.
func lineItemInvalid(position int) problem {
	return problem{Reason: reasonLineItem, Text: "Line item " + strconv.Itoa(position) + " is invalid."}
}
