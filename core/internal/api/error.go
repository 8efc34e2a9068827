package api

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/ratelimit"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/idempotency"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// fault is a refusal before it is sent. Its code determines type and status.
type fault struct {
	code    string
	param   string
	message string             // "" for the table's
	cause   error              // for the log only
	limit   *ratelimit.Verdict // of the limit that refused the request; nil for none
}

func (f *fault) Error() string { return "api: " + f.code }
func (f *fault) Unwrap() error { return f.cause }

// entry is the meaning of a code on the wire.
type entry struct {
	kind    v1.ErrorType
	status  int
	message string
}

// The codes that no other package defines. The codes of refused steps are in package payment.
const (
	codeInvalidAPIKey         = "invalid_api_key"
	codeMerchantDisabled      = "merchant_disabled"
	codeInvalidOperatorToken  = "invalid_operator_token"
	codeInsufficientRole      = "insufficient_role"
	codeTooManyLogins         = "too_many_logins"
	codeInsufficientScope     = "insufficient_scope"
	codePublishableKey        = "publishable_key_not_allowed"
	codeSecretKeyInBrowser    = "secret_key_in_browser" //nolint:gosec // the name of an error
	codeAddressNotAllowed     = "address_not_allowed"
	codeOriginNotAllowed      = "origin_not_allowed"
	codeTestModeOnly          = "test_mode_only"
	codeInvalidClientSecret   = "invalid_client_secret"
	codeInvalidJSON           = "invalid_json"
	codeUnknownField          = "unknown_field"
	codeDuplicateField        = "duplicate_field"
	codeMissingField          = "missing_field"
	codeInvalidType           = "invalid_type"
	codeInvalidValue          = payment.InvalidValue
	codeInvalidAmount         = "invalid_amount"
	codeUnknownCurrency       = "unknown_currency"
	codeInvalidCardNumber     = "invalid_card_number"
	codeCardNumberInText      = "card_number_in_text"
	codeExpiredCard           = "expired_card"
	codeInvalidCVC            = "invalid_cvc"
	codeUnknownPaymentMethod  = "unknown_payment_method"
	codeUnlinkedRefunds       = "unlinked_refunds_not_allowed"
	codeTokenUsed             = "token_used"
	codeTokenExpired          = "token_expired"
	codeTooManyConfirmations  = "too_many_confirmations"
	codeTokenCodeLost         = "token_code_lost"
	codeUnknownCustomer       = "unknown_customer"
	codeTooManyPaymentMethods = "too_many_payment_methods"
	codeTooManyAddresses      = "too_many_shipping_addresses"
	codeInvalidURL            = "invalid_url"
	codeTooManyEndpoints      = "webhook_endpoint_limit"
	codeEndpointDisabled      = "webhook_endpoint_disabled"
	codeUnknownVersion        = "unknown_version"
	codeUnknownParameter      = "unknown_parameter"
	codeInvalidCursor         = "invalid_cursor"
	codeNotFound              = "not_found"
	codeRouteNotFound         = "route_not_found"
	codeMethodNotAllowed      = "method_not_allowed"
	codeBodyTooLarge          = "body_too_large"
	codeBodyTooSlow           = "body_too_slow"
	codeUnfinishedBodies      = "too_many_unfinished_bodies"
	codeUnsupportedMediaType  = "unsupported_media_type"
	codeInvalidIdempotencyKey = "invalid_idempotency_key"
	codeKeyInUse              = "idempotency_key_in_use"
	codeKeyReused             = payment.KeyReused
	codeKeyNotRollable        = payment.KeyNotRollable
	codeLastKey               = "last_api_key"
	codeTooManyKeys           = "api_key_limit"
	codeCardDeclined          = payment.CardDeclined
	codeTooManyDeclines       = "too_many_declines"
	codeRateLimited           = "rate_limited"
	codeTooManyLists          = "too_many_lists"
	codeTooManyChanges        = "too_many_changes"
	codeListTimeout           = "list_timeout"
	codeNotThroughFilter      = "not_through_filter"
	codeInternal              = "internal_error"
	codeOverloaded            = "overloaded"
	codeStoreUnavailable      = "store_unavailable"
	codeNoAcquirer            = "acquirer_not_configured"
	codeAccountExists         = "account_exists"
	codeAccountCheckFailed    = "account_check_failed"
	codeAcquirerDeclined      = payment.AcquirerDeclined
	codeOutcomeUnknown        = "outcome_unknown"
	codeNotProcessed          = payment.NotProcessed
)

// tooManyEndpoints is the message of codeTooManyEndpoints.
const tooManyEndpoints = "There are 16 webhook endpoints, which is the limit, or the deliveries of deleted ones are still being " +
	"removed. Delete an endpoint, or retry in a minute."

// listTimeout is the message of codeListTimeout.
const listTimeout = "The list did not end within 5 seconds: it had too many rows to read. Narrow it by created_after and " +
	"created_before, or by customer or reference. Other filters do not limit the rows to read."

// tooManyChanges is the message of codeTooManyChanges.
const tooManyChanges = "Too many changes of this merchant are in progress or waiting. This request changed nothing, but an " +
	"earlier one with its Idempotency-Key may have. Retry with the same key, and send fewer at the same time."

// tooManyDeclines is the message of codeTooManyDeclines.
const tooManyDeclines = "Too many confirmations with this publishable key or from this address were declined. This one was not sent " +
	"to the acquirer. Retry after the seconds in Retry-After, or confirm with a secret key."

// codes is the only table from code to type and status.
var codes = map[string]entry{
	codeInvalidAPIKey:      {v1.ErrorTypeAuthenticationError, 401, v1.MessageInvalidAPIKey},
	codeMerchantDisabled:   {v1.ErrorTypePermissionError, 403, "This merchant is disabled. Contact the operator of this service."},
	codeInsufficientScope:  {v1.ErrorTypePermissionError, 403, "This API key lacks a scope that the request needs. Use a key that has it."},
	codePublishableKey:     {v1.ErrorTypePermissionError, 403, v1.MessagePublishable},
	codeSecretKeyInBrowser: {v1.ErrorTypePermissionError, 403, v1.MessageSecretKeyInBrowser + " Use a publishable key in web pages."},

	codeAddressNotAllowed:    {v1.ErrorTypePermissionError, 403, "This API key cannot be used from the address of this request. Its owner can see and change the allowed ones."},
	codeOriginNotAllowed:     {v1.ErrorTypePermissionError, 403, "This publishable key cannot be used on web pages of this origin. Its owner can see and change the allowed ones."},
	codeTestModeOnly:         {v1.ErrorTypePermissionError, 403, "This endpoint is for test mode only. Use a test key."},
	codeNotThroughFilter:     {v1.ErrorTypePermissionError, 403, "The request did not come through the public address of this service. Send it there."},
	codeUnlinkedRefunds:      {v1.ErrorTypePermissionError, 403, "This merchant can only refund its transactions. Name the transaction, or have the operator allow unlinked refunds."},
	codeTooManyConfirmations: {v1.ErrorTypeInvalidRequestError, 409, "Too many confirmations of this transaction had a wrong token or payment method. Confirm it with a secret key, or create another."},
	codeInvalidClientSecret:  {v1.ErrorTypePermissionError, 403, "The client_secret does not belong to this transaction. Send the one from the response to its creation."},

	codeInvalidJSON:           {v1.ErrorTypeInvalidRequestError, 400, v1.MessageInvalidJSON},
	codeUnknownField:          {v1.ErrorTypeInvalidRequestError, 400, v1.MessageUnknownField},
	codeDuplicateField:        {v1.ErrorTypeInvalidRequestError, 400, v1.MessageDuplicateField},
	codeMissingField:          {v1.ErrorTypeInvalidRequestError, 400, v1.MessageMissingField},
	codeInvalidType:           {v1.ErrorTypeInvalidRequestError, 400, v1.MessageInvalidType},
	codeInvalidValue:          {v1.ErrorTypeInvalidRequestError, 400, v1.MessageInvalidValue},
	codeInvalidAmount:         {v1.ErrorTypeInvalidRequestError, 400, "The amount must be an integer in the currency's minor unit, from 1 to 999999999999. 0 verifies a card, with capture \"manual\"."},
	codeUnknownCurrency:       {v1.ErrorTypeInvalidRequestError, 400, "The currency must be a lower-case ISO 4217 code in use, such as \"usd\"."},
	codeInvalidCardNumber:     {v1.ErrorTypeInvalidRequestError, 400, "The card number is not valid. Check it, or use another card."},
	codeCardNumberInText:      {v1.ErrorTypeInvalidRequestError, 400, "The text contains a card number. Send card numbers only in fields that are named number."},
	codeExpiredCard:           {v1.ErrorTypeInvalidRequestError, 400, "The card has expired. Use another card."},
	codeInvalidCVC:            {v1.ErrorTypeInvalidRequestError, 400, "The CVC must have 3 digits, or 4 on American Express."},
	codeUnknownPaymentMethod:  {v1.ErrorTypeInvalidRequestError, 400, "The payment method or token does not exist. Check its id, and the mode and merchant of the API key."},
	codeTokenUsed:             {v1.ErrorTypeInvalidRequestError, 400, "The token was used before, and each token can be used once. Create another one."},
	codeTokenExpired:          {v1.ErrorTypeInvalidRequestError, 400, "The token has expired after 60 minutes. Create another one."},
	codeTokenCodeLost:         {v1.ErrorTypeInvalidRequestError, 400, "The token's security code is no longer stored. Have the payer enter the card again."},
	codeUnknownCustomer:       {v1.ErrorTypeInvalidRequestError, 400, "The customer does not exist. Check its id, and the mode and merchant of the API key."},
	codeTooManyPaymentMethods: {v1.ErrorTypeInvalidRequestError, 409, "The customer has 500 payment methods, which is the limit. Remove one first."},
	codeTooManyAddresses:      {v1.ErrorTypeInvalidRequestError, 409, "The customer would have more than 100 shipping addresses, or more than 262,144 bytes. Delete an address first."},
	codeInvalidURL:            {v1.ErrorTypeInvalidRequestError, 400, "The URL cannot be used for a webhook endpoint."},
	codeTooManyEndpoints:      {v1.ErrorTypeInvalidRequestError, 409, tooManyEndpoints},
	codeEndpointDisabled:      {v1.ErrorTypeInvalidRequestError, 409, "The webhook endpoint is disabled. Set its status to \"enabled\" first."},
	codeUnknownVersion:        {v1.ErrorTypeInvalidRequestError, 400, v1.MessageUnknownVersion},
	codeUnknownParameter:      {v1.ErrorTypeInvalidRequestError, 400, v1.MessageUnknownParameter},
	codeInvalidCursor:         {v1.ErrorTypeInvalidRequestError, 400, "The cursor is not the id of an object in this list, or both cursors were sent. Send starting_after or ending_before."},
	codeInvalidIdempotencyKey: {v1.ErrorTypeInvalidRequestError, 400, v1.MessageInvalidKey},
	codeNotFound:              {v1.ErrorTypeInvalidRequestError, 404, "No object has this id. Check the id, and the mode and merchant of the API key."},
	codeRouteNotFound:         {v1.ErrorTypeInvalidRequestError, 404, v1.MessageNoRoute},
	codeMethodNotAllowed:      {v1.ErrorTypeInvalidRequestError, 405, v1.MessageNoMethod},
	codeBodyTooLarge:          {v1.ErrorTypeInvalidRequestError, 413, v1.MessageBodyTooLarge("256 KiB")},
	codeBodyTooSlow:           {v1.ErrorTypeInvalidRequestError, 408, v1.MessageBodyTooSlow},
	codeUnsupportedMediaType:  {v1.ErrorTypeInvalidRequestError, 415, v1.MessageMediaType},

	payment.NotConfirmable:          {v1.ErrorTypeInvalidRequestError, 409, ""},
	payment.NotChangeable:           {v1.ErrorTypeInvalidRequestError, 409, ""},
	payment.TransactionChanged:      {v1.ErrorTypeInvalidRequestError, 409, ""},
	payment.NotCapturable:           {v1.ErrorTypeInvalidRequestError, 409, ""},
	payment.NotVoidable:             {v1.ErrorTypeInvalidRequestError, 409, ""},
	payment.NotRefundable:           {v1.ErrorTypeInvalidRequestError, 409, ""},
	payment.NotSettleable:           {v1.ErrorTypeInvalidRequestError, 409, ""},
	payment.NotExpirable:            {v1.ErrorTypeInvalidRequestError, 409, ""},
	payment.VersionConflict:         {v1.ErrorTypeInvalidRequestError, 409, ""},
	payment.OperationInProgress:     {v1.ErrorTypeInvalidRequestError, 409, ""},
	payment.AmountExceedsCapturable: {v1.ErrorTypeInvalidRequestError, 400, ""},
	payment.AmountExceedsRefundable: {v1.ErrorTypeInvalidRequestError, 400, ""},
	payment.AcquirerUnavailable:     {v1.ErrorTypeAPIError, 503, "The acquirer cannot be reached. Nothing was changed. Retry after the seconds in Retry-After."},

	codeKeyNotRollable: {v1.ErrorTypeInvalidRequestError, 409, "Only an active key can be rolled. Create another one."},
	codeLastKey:        {v1.ErrorTypeInvalidRequestError, 409, "This is the last key that can manage keys. Create another one first, or send force=true."},

	codeTooManyKeys: {v1.ErrorTypeInvalidRequestError, 409, "The merchant has 100 active keys in this mode, or 1,000 with the rolled ones that are still valid. Revoke one first."},

	codeCardDeclined:     {v1.ErrorTypeCardError, 402, declineMessages[v1.DeclineCodeGenericDecline]},
	codeAcquirerDeclined: {v1.ErrorTypeCardError, 402, "The acquirer declined this step."},

	codeKeyInUse:  {v1.ErrorTypeIdempotencyError, 409, "A request with this Idempotency-Key is still in progress. Retry after the seconds in Retry-After."},
	codeKeyReused: {v1.ErrorTypeIdempotencyError, 422, v1.MessageKeyReused},

	codeRateLimited:      {v1.ErrorTypeRateLimitError, 429, v1.MessageRateLimited},
	codeTooManyDeclines:  {v1.ErrorTypeRateLimitError, 429, tooManyDeclines},
	codeTooManyLists:     {v1.ErrorTypeRateLimitError, 429, "Too many lists of this merchant are in progress or waiting. Read one page after the other, and retry."},
	codeTooManyChanges:   {v1.ErrorTypeRateLimitError, 429, tooManyChanges},
	codeUnfinishedBodies: {v1.ErrorTypeRateLimitError, 429, v1.MessageUnfinishedBodies},

	codeInvalidOperatorToken: {v1.ErrorTypeAuthenticationError, 401, "The operator token is missing, wrong, expired or revoked. Make one with `core operators create`, and send it as `Authorization: Bearer <token>`."},
	codeInsufficientRole:     {v1.ErrorTypePermissionError, 403, "The role of this operator token does not allow this request. Use a token with the role operator."},
	codeTooManyLogins:        {v1.ErrorTypeRateLimitError, 429, "Too many logins from this address failed. Wait for the seconds in Retry-After."},
	codeAccountExists:        {v1.ErrorTypeInvalidRequestError, 409, "The merchant has an enabled account for this currency and method. Disable that account first, or add a second account for failover."},
	codeAccountCheckFailed:   {v1.ErrorTypeInvalidRequestError, 409, "The acquirer did not accept the credentials. Nothing was changed."},

	codeInternal:         {v1.ErrorTypeAPIError, 500, v1.MessageInternal},
	codeNotProcessed:     {v1.ErrorTypeAPIError, 502, "No money was moved: the acquirer never processed the payment, or reversed it. Send the request again."},
	codeOverloaded:       {v1.ErrorTypeAPIError, 503, v1.MessageOverloaded},
	codeStoreUnavailable: {v1.ErrorTypeAPIError, 503, v1.MessageStore},
	codeNoAcquirer:       {v1.ErrorTypeAPIError, 503, "This merchant has no account for live mode with this currency and payment method. Use a test key, or have the operator add one."},
	codeListTimeout:      {v1.ErrorTypeAPIError, 504, listTimeout},
	codeOutcomeUnknown:   {v1.ErrorTypeAPIError, 504, "The acquirer's response did not arrive. Send the request again with the same Idempotency-Key. Without one, read the transaction of this response later. If there is none, look for the new object in the lists or events."},
}

// operators reports whether only the operator's API returns a code.
func operators(code string) bool {
	switch code {
	case codeInvalidOperatorToken, codeInsufficientRole, codeTooManyLogins, codeAccountExists, codeAccountCheckFailed:
		return true
	}
	return false
}

// body builds the wire form of an error.
func (f *fault) body(requestID string) (int, *v1.ErrorBody) {
	e, ok := codes[f.code]
	if !ok {
		e = codes[codeInternal]
		f = &fault{code: codeInternal, cause: f}
	}
	out := v1.Error{Type: e.kind, Code: f.code, Message: f.message, Status: e.status, RequestID: requestID}
	if out.Message == "" {
		out.Message = e.message
	}
	if f.param != "" {
		param := safeParam(f.param)
		out.Param = &param
		out.Message = v1.WithField(f.code, param, out.Message)
	}
	body := out.Body()
	if operators(f.code) { // /docs is for merchants
		body.Error.DocURL = ""
	}
	return e.status, &body
}

// The bounds of the client's text that a param may repeat.
const (
	maxParam       = 200
	maxParamDigits = 8
)

// safeParam returns param unless it could contain a secret. A client that builds its JSON wrongly
// may send a card number or a key as the name of a field.
func safeParam(param string) string {
	digits := 0
	for i := range len(param) {
		if param[i] >= '0' && param[i] <= '9' {
			digits++
		}
	}
	if len(param) > maxParam || digits > maxParamDigits || strings.Contains(param, "sk_") || strings.Contains(param, "pk_") || strings.Contains(param, "tok_") {
		return "[redacted]"
	}
	return param
}

// fieldFault turns an error that names a field of the request into a fault, nil for another error.
func fieldFault(err error) *fault {
	if invalid, ok := errors.AsType[*operator.FieldError](err); ok {
		return &fault{code: codeInvalidValue, param: invalid.Field, message: invalid.Text + "."}
	}
	if errors.Is(err, payment.ErrOriginsOfSecretKey) {
		return &fault{code: codeInvalidValue, param: "allowed_origins", message: "Only a publishable key can have origins."}
	}
	if version, ok := errors.AsType[*engine.VersionError](err); ok {
		return &fault{code: version.Code, param: version.Param, message: version.Message}
	}
	return nil
}

// faultOf turns any error into a fault. An unknown error is internal, and its text goes to the log
// only.
func faultOf(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	for _, known := range []func(error) *fault{admissionFault, fieldFault, endedKey} {
		if f := known(err); f != nil {
			return f
		}
	}
	for _, known := range []struct {
		err         error
		code, param string
	}{
		{engine.ErrCaptureNotFound, codeNotFound, "capture"},
		{payment.ErrNotFound, codeNotFound, "id"},
		{engine.ErrKeyInUse, codeKeyInUse, ""},
		{payment.ErrNoSource, codeUnknownPaymentMethod, "payment_method"},
		{payment.ErrTokenUsed, codeTokenUsed, "payment_method"},
		{payment.ErrTokenExpired, codeTokenExpired, "payment_method"},
		{engine.ErrCodeLost, codeTokenCodeLost, "payment_method"},
		{payment.ErrNoCustomer, codeUnknownCustomer, "customer"},
		{engine.ErrNoDefault, codeMissingField, "payment_method"},
		{engine.ErrUnlinkedRefunds, codeUnlinkedRefunds, ""},
		{payment.ErrOtherCustomer, codeInvalidValue, "payment_method"},
		{engine.ErrTooManyMethods, codeTooManyPaymentMethods, "id"},
		{engine.ErrKeyReused, codeKeyReused, ""},
		{engine.ErrLastKey, codeLastKey, ""},
		{engine.ErrNoAcquirer, codeNoAcquirer, ""},
		{payment.ErrAccountExists, codeAccountExists, ""},
		{engine.ErrAcquirerUnavailable, payment.AcquirerUnavailable, ""},
		{engine.ErrTooManyEndpoints, codeTooManyEndpoints, ""},
		{engine.ErrEndpointNotFound, codeNotFound, "endpoint"},
		{engine.ErrEndpointDisabled, codeEndpointDisabled, "endpoint"},
		{payment.ErrOperatorEnded, codeInvalidOperatorToken, ""},
		{payment.ErrMerchantDisabled, codeMerchantDisabled, ""},
		{idempotency.ErrSeveral, codeInvalidIdempotencyKey, idempotency.Header},
		{idempotency.ErrInvalid, codeInvalidIdempotencyKey, idempotency.Header},
	} {
		if errors.Is(err, known.err) {
			return &fault{code: known.code, param: known.param, cause: err}
		}
	}
	if engine.IsBusy(err) {
		return &fault{code: codeOverloaded, cause: err}
	}
	if engine.IsUnavailable(err) {
		return &fault{code: codeStoreUnavailable, cause: err}
	}
	return &fault{code: codeInternal, cause: err}
}

// retryAfter has the seconds that a client should wait, by code.
var retryAfter = map[string]int{
	codeKeyInUse: 1, codeOverloaded: 1, codeRateLimited: 1, codeUnfinishedBodies: 1, codeTooManyLists: 5, codeTooManyChanges: 1,
	codeStoreUnavailable: 5, payment.AcquirerUnavailable: 5, codeOutcomeUnknown: 5,
	payment.OperationInProgress: 1, codeTooManyLogins: int(failureWindow / time.Second),
}

// refuse writes an error.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	f := faultOf(err)
	status, body := f.body(httpx.RequestIDFrom(r.Context()))
	if status >= 500 && f.cause != nil {
		a.Log.Log(r.Context(), httpx.RefusalLevel(r.Context(), f.code), "api: the request failed", "code", f.code, "request_id", body.Error.RequestID, "error", f.cause)
	}
	if f.code == codeInvalidAPIKey || f.code == codeInvalidOperatorToken {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if f.limit != nil {
		showLimit(w, *f.limit)
	}
	if s, ok := retryAfter[f.code]; ok && w.Header().Get("Retry-After") == "" { // a rate limit has set its own
		w.Header().Set("Retry-After", strconv.Itoa(s))
	}
	outcome := f.code
	if errors.Is(f.cause, admission.ErrTooMany) {
		outcome = admission.ReasonTooMany // operators distinguish it from the rate limit
	}
	httpx.EventFrom(r.Context()).SetOutcome(outcome)
	a.write(w, r, status, encode(body))
}
