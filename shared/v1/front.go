package v1

import "slices"

// frontErrors are the errors of mle-filter and of the edge that core does not return.
var frontErrors = []Error{
	{Status: 400, Type: ErrorTypeInvalidRequestError, Code: "invalid_request", Message: MessageNotHTTP},
	{Status: 400, Type: ErrorTypeInvalidRequestError, Code: "body_not_received", Message: MessageBodyNotReceived},
	{
		Status: 400, Type: ErrorTypeMleError, Code: CodeMLERequired,
		Message: "The endpoint or the merchant's setting requires an encrypted body. Encrypt it.",
	},
	{
		Status: 400, Type: ErrorTypeMleError, Code: "mle_kid_unknown",
		Message: "No key of the merchant has this kid. Fetch the current key and retry once. With a param, encrypt the " +
			"body or register a response key.",
	},
	{
		Status: 400, Type: ErrorTypeMleError, Code: "mle_decrypt_failed",
		Message: "The body could not be decrypted, or it is bound to another request. Correct it.",
	},
	{Status: 400, Type: ErrorTypeMleError, Code: "mle_not_supported", Message: MessageNoMLE},
	{
		Status: 400, Type: ErrorTypeInvalidRequestError, Code: "mle_challenge_failed",
		Message: "The value is not the plaintext of the challenge, or the challenge has expired.",
	},
	{
		Status: 409, Type: ErrorTypeInvalidRequestError, Code: "mle_response_key_exists",
		Message: "This response key is already registered and active.",
	},
	{
		Status: 409, Type: ErrorTypeInvalidRequestError, Code: "mle_response_key_limit",
		Message: "20 response keys are registered already. That is the limit. Delete one first.",
	},
	{
		Status: 409, Type: ErrorTypeInvalidRequestError, Code: "mle_key_in_use",
		Message: "Only a previous key can be ended. Rotate first, then end the replaced key.",
	},
	{
		Status: 409, Type: ErrorTypeInvalidRequestError, Code: "mle_key_limit",
		Message: "10 keys of this algorithm decrypt already. End a previous one, or wait for the seconds in Retry-After.",
	},
	{Status: 421, Type: ErrorTypeInvalidRequestError, Code: "misdirected_request", Message: MessageMisdirected},
	{Status: 431, Type: ErrorTypeInvalidRequestError, Code: "headers_too_large", Message: MessageHeadersTooLarge},
	{Status: 502, Type: ErrorTypeAPIError, Code: "response_lost", Message: MessageResponseLost},
	{Status: 503, Type: ErrorTypeAPIError, Code: "service_unavailable", Message: MessageUnreachable},
	{
		Status: 503, Type: ErrorTypeAPIError, Code: "mle_unavailable",
		Message: "Encrypted requests cannot be processed at the moment. Nothing was changed. Retry.",
	},
	{Status: 504, Type: ErrorTypeAPIError, Code: "response_timeout", Message: MessageResponseTimeout},
}

// commonCodes are core's codes that programs in front of it also return without core.
var commonCodes = []string{
	"invalid_api_key", "publishable_key_not_allowed", "insufficient_scope", "invalid_json", "unknown_field",
	"duplicate_field", CodeMissingField, "invalid_type", "invalid_value", "unknown_parameter", "unknown_version",
	"invalid_idempotency_key", CodeKeyReused, "not_found", "route_not_found", "method_not_allowed",
	"body_too_slow", "body_too_large", "unsupported_media_type", "too_many_unfinished_bodies",
	CodeRateLimited, "internal_error", CodeOverloaded, "store_unavailable",
}

// FrontCodes returns all codes that programs in front of core return without core.
func FrontCodes() []string {
	codes := slices.Clone(commonCodes)
	for _, e := range frontErrors {
		codes = append(codes, e.Code)
	}
	return codes
}

// FrontErrors returns the errors of programs in front of core that core does not return. Their
// messages are general: a program can send a more precise one.
func FrontErrors() []Error { return slices.Clone(frontErrors) }
