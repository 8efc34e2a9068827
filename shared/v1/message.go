package v1

import (
	"slices"
	"strings"
)

// Messages of the errors that several programs report, so that one error has one text.
const (
	MessageInvalidAPIKey = "The API key is missing or invalid. " +
		"Send it as `Authorization: Bearer <key>`."
	MessageEndedKey = "This API key was revoked or has expired. Use the key that replaced it, or create another one."

	MessagePublishable = "Publishable keys can only create tokens, confirm payments and read the current MLE key. " +
		"Use a secret key."
	MessageSecretKeyInBrowser = "A secret API key was sent from a web page, where every visitor can read it: the " +
		"request has an Origin header. Roll the key, and use it only on your server."

	MessageInvalidJSON      = "The body is not valid JSON. Send one JSON object."
	MessageUnknownField     = "This endpoint has no such field. Remove it, or check its name."
	MessageDuplicateField   = "The body contains this field twice. Send it once."
	MessageMissingField     = "This field is required and must not be empty or zero."
	MessageInvalidType      = "The value of this field has the wrong JSON type."
	MessageInvalidValue     = "The value of this field is not allowed."
	MessageUnknownParameter = "This endpoint has no such query parameter. Remove it, or check its name."
	MessageInvalidKey       = "Send one Idempotency-Key of 1 to 255 printable ASCII characters."
	MessageKeyReused        = "This Idempotency-Key was used with another request. Use a new one for each new request."

	MessageUnknownVersion  = "There is no such version. Send `Causeway-Version: " + Version + "`, or omit the header."
	MessageNoRoute         = "No endpoint has this path. Check its spelling."
	MessageNoMethod        = "This path does not support the method. See the Allow header."
	MessageBodyNotReceived = "The connection ended before the whole body arrived. Nothing was changed: send the " +
		"request again."
	MessageMediaType   = "Send the body uncompressed, with the header `Content-Type: application/json`."
	MessageBodyTooSlow = "The body arrived too slowly. Nothing was changed: send the request again."
	MessageNoMLE       = "This endpoint takes no encryption: send no X-SVC-MLE fields and no application/jose."

	MessageLegacyMLE = "The merchant requires message-level encryption. Send an API key in the Authorization header, " +
		"and encrypt the request as for v1."

	MessageNotHTTP = "The request is not valid HTTP, or its path has an invalid or unusual spelling. Correct it, then " +
		"send it again."
	MessagePlainHTTP        = "This port serves HTTPS only. Begin the URL with https://."
	MessageInvalidRequest   = "The request is invalid. Correct it, then send it again."
	MessageExpect           = "The header has an Expect other than 100-continue. Remove it."
	MessageHeadersTooLarge  = "The header fields of the request are too large. Send fewer or shorter ones."
	MessageTransferEncoding = "The Transfer-Encoding is not supported. Send chunked, or a Content-Length."
	MessageMisdirected      = "This connection does not serve the host name of the request. Check the name, and open a " +
		"new connection."
	MessageHTTPVersion = "The HTTP version is not supported. Use HTTP/1.1 or HTTP/2."

	MessageUnfinishedBodies = "Too many requests of this API key, its merchant or this address have a body that is " +
		"still arriving. Send bodies whole, and retry."
	MessageRateLimited = "This API key, its merchant or this address sent too many requests, or has too many in " +
		"progress. Wait for the seconds in Retry-After."
	MessageOverloaded = "Too many requests are in progress. Retry after the seconds in Retry-After, with the same " +
		"Idempotency-Key."
	MessageUnreachable = "The service cannot be reached. Nothing was changed. Retry after the seconds in Retry-After."
	MessageStore       = "The database cannot be read or written at the moment. Retry after the seconds in " +
		"Retry-After, with the same Idempotency-Key."

	MessageInternal        = "An internal error occurred." + again
	MessageResponseLost    = "The response was lost." + again
	MessageResponseTimeout = "No response arrived in time." + again
)

// again is the advice after an error that leaves the effect of a request unknown.
const again = " The request may have been carried out: send it again with the same Idempotency-Key."

// MessageBodyTooLarge returns the message for a body above a limit, such as "256 KiB".
func MessageBodyTooLarge(limit string) string {
	return "The body is larger than " + limit + ". Send a smaller one."
}

// MessageNoScope returns the message for an API key without the scope.
func MessageNoScope(scope string) string {
	return "This API key lacks the scope " + scope + ". Use a key that has it."
}

// fieldCodes are the codes whose messages name the field at fault. Web pages can show the other
// messages to the payer.
var fieldCodes = []string{
	"unknown_field", "duplicate_field", CodeMissingField, "invalid_type", "invalid_value", "invalid_amount",
	"card_number_in_text", "unknown_parameter",
}

// WithField returns the message of an error, with the field or parameter in front if the code is
// about one.
func WithField(code, param, message string) string {
	if param == "" || !slices.Contains(fieldCodes, code) || strings.HasPrefix(message, param+": ") {
		return message
	}
	return param + ": " + message
}
