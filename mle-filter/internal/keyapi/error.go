package keyapi

import (
	"errors"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/jwkcheck"
	"github.com/causeway-pay/causeway/mle-filter/internal/keyring"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The codes of this API: the codes of v1, and codes about response keys.
const (
	codePublishableKey        = "publishable_key_not_allowed"
	codeInsufficientScope     = "insufficient_scope"
	codeInvalidJSON           = "invalid_json"
	codeUnknownField          = "unknown_field"
	codeDuplicateField        = "duplicate_field"
	codeMissingField          = "missing_field"
	codeInvalidType           = "invalid_type"
	codeInvalidValue          = "invalid_value"
	codeUnknownVersion        = "unknown_version"
	codeUnknownParameter      = "unknown_parameter"
	codeNotFound              = "not_found"
	codeRouteNotFound         = "route_not_found"
	codeMethodNotAllowed      = "method_not_allowed"
	codeBodyTooLarge          = "body_too_large"
	codeUnsupportedMediaType  = "unsupported_media_type"
	codeInvalidIdempotencyKey = "invalid_idempotency_key"
	codeKeyReused             = "idempotency_key_reused"
	codeKeyExists             = "mle_response_key_exists"
	codeTooMany               = "mle_response_key_limit"
	codeChallengeFailed       = "mle_challenge_failed"
	codeKeyInUse              = "mle_key_in_use"
	codeKeyLimit              = "mle_key_limit"
	codeRateLimited           = "rate_limited"
	codeUnavailable           = "mle_unavailable"
	codeStoreUnavailable      = "store_unavailable"
	codeInternal              = "internal_error"
)

// codes is the only table from code to type, status and message.
var codes = map[string]engine.Problem{
	codePublishableKey: {
		Type: v1.ErrorTypePermissionError, Status: 403,
		Message: v1.MessagePublishable,
	},
	codeInsufficientScope: {
		Type: v1.ErrorTypePermissionError, Status: 403,
		Message: v1.MessageNoScope("mle:write"),
	},

	codeInvalidJSON:           invalidRequest(400, v1.MessageInvalidJSON),
	codeUnknownField:          invalidRequest(400, v1.MessageUnknownField),
	codeDuplicateField:        invalidRequest(400, v1.MessageDuplicateField),
	codeMissingField:          invalidRequest(400, v1.MessageMissingField),
	codeInvalidType:           invalidRequest(400, v1.MessageInvalidType),
	codeInvalidValue:          invalidRequest(400, v1.MessageInvalidValue),
	codeUnknownVersion:        invalidRequest(400, v1.MessageUnknownVersion),
	codeUnknownParameter:      invalidRequest(400, v1.MessageUnknownParameter),
	codeInvalidIdempotencyKey: invalidRequest(400, v1.MessageInvalidKey),
	codeNotFound:              invalidRequest(404, "No key has this id."),
	codeRouteNotFound:         invalidRequest(404, v1.MessageNoRoute),
	codeMethodNotAllowed:      invalidRequest(405, v1.MessageNoMethod),
	codeBodyTooLarge:          invalidRequest(413, v1.MessageBodyTooLarge("64 KiB")),
	codeUnsupportedMediaType:  invalidRequest(415, v1.MessageMediaType),

	codeKeyExists: invalidRequest(409, "This response key is already registered and active."),
	codeTooMany:   invalidRequest(409, "20 response keys are registered already. That is the limit. Delete one first."),
	codeChallengeFailed: invalidRequest(400, "The value is not the plaintext of the challenge, or the challenge has "+
		"expired. Register the key again to get another challenge."),
	codeKeyInUse: invalidRequest(409, "Only a previous key can be ended. Rotate first, then end the replaced key."),
	codeKeyLimit: invalidRequest(409, "10 keys of this algorithm decrypt already. End a previous one, rotate with "+
		"expires_in: 0, or wait for the seconds in Retry-After."),
	codeRateLimited: {
		Type: v1.ErrorTypeRateLimitError, Status: 429,
		Message: "The keys of one algorithm can be rotated 10 times within 24 hours. Wait for the seconds in Retry-After.",
	},
	codeKeyReused: {
		Type: v1.ErrorTypeIdempotencyError, Status: 422,
		Message: v1.MessageKeyReused,
	},

	codeUnavailable: {
		Type: v1.ErrorTypeAPIError, Status: 503, RetryAfter: 1,
		Message: "The key is being made. Retry after the seconds in Retry-After.",
	},
	codeStoreUnavailable: {
		Type: v1.ErrorTypeAPIError, Status: 503, RetryAfter: 5,
		Message: v1.MessageStore,
	},
	codeInternal: {Type: v1.ErrorTypeAPIError, Status: 500, Message: v1.MessageInternal},
}

func invalidRequest(status int, message string) engine.Problem {
	return engine.Problem{Type: v1.ErrorTypeInvalidRequestError, Status: status, Message: message}
}

func problem(code string) *engine.Problem {
	p := codes[code]
	p.Code, p.Reason = code, code
	return &p
}

// at returns a problem with one field or parameter. Its name can be input of the client.
func at(code, param string) *engine.Problem {
	p := problem(code)
	p.Param = safeParam(param)
	p.Message = v1.WithField(code, p.Param, p.Message)
	return p
}

func invalid(param, message string) *engine.Problem {
	p := at(codeInvalidValue, param)
	p.Message = v1.WithField(codeInvalidValue, p.Param, message)
	return p
}

// safeParam returns param, or a placeholder if it can contain a secret. A client with a faulty JSON
// encoder can send a key as the name of a field.
func safeParam(param string) string {
	digits := 0
	for i := range len(param) {
		if param[i] >= '0' && param[i] <= '9' {
			digits++
		}
	}
	if len(param) > 200 || digits > 8 || strings.Contains(param, "sk_") || strings.Contains(param, "pk_") {
		return "[redacted]"
	}
	return param
}

// problemOf converts an error of the keyring into a response. An unknown error becomes an internal
// one, and only the log gets its text.
func (a *API) problemOf(err error) *engine.Problem {
	var jwk *jwkcheck.MemberError
	if errors.As(err, &jwk) {
		return invalid(strings.TrimSuffix("jwk."+jwk.Member, "."), jwk.Message)
	}
	for _, known := range []struct {
		err         error
		code, param string
	}{
		{engine.ErrNoKey, codeNotFound, "kid"},
		{keyring.ErrKeyReused, codeKeyReused, ""},
		{keyring.ErrKeyExists, codeKeyExists, ""},
		{keyring.ErrTooMany, codeTooMany, ""},
		{keyring.ErrChallenge, codeChallengeFailed, "answer"},
		{keyring.ErrNotReady, codeUnavailable, ""},
		{keyring.ErrState, codeKeyInUse, "kid"},
		{keyring.ErrTooManyKeys, codeKeyLimit, ""},
		{keyring.ErrTooOften, codeRateLimited, ""},
	} {
		if errors.Is(err, known.err) {
			return later(at(known.code, known.param), err)
		}
	}
	p := problem(codeInternal)
	if a.Keys.IsUnavailable(err) {
		p = problem(codeStoreUnavailable)
	}
	p.Cause = err
	return p
}

// later sets the Retry-After of a LimitError.
func later(p *engine.Problem, err error) *engine.Problem {
	var limit *keyring.LimitError
	if errors.As(err, &limit) {
		p.RetryAfter = int((limit.After + time.Second - 1) / time.Second)
	}
	return p
}
