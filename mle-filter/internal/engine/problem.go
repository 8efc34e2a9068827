package engine

import (
	"strconv"

	"github.com/go-json-experiment/json"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The codes of the engine's problems.
const (
	CodeRequired      = v1.CodeMLERequired
	CodeKIDUnknown    = "mle_kid_unknown"
	CodeDecryptFailed = "mle_decrypt_failed"
	CodeNotSupported  = "mle_not_supported" // on routes where the policy is off
	CodeUnavailable   = "mle_unavailable"
	CodeMediaType     = "unsupported_media_type"
	CodeTooLarge      = "body_too_large"
	CodeInvalidValue  = "invalid_value"
	CodeRateLimited   = v1.CodeRateLimited
	CodeInternal      = "internal_error"
)

const (
	// ReasonBusy is the reason of a problem that other clients used all decryption slots. It is not a
	// fault.
	ReasonBusy = "busy"
	// ReasonOwn is the reason of a problem that a client waited for its own decryptions.
	ReasonOwn = "own_turns"
)

// problems is the only table from code to type and status.
var problems = map[string]struct {
	errorType v1.ErrorType
	status    int
}{
	CodeRequired:      {v1.ErrorTypeMleError, 400},
	CodeKIDUnknown:    {v1.ErrorTypeMleError, 400},
	CodeDecryptFailed: {v1.ErrorTypeMleError, 400},
	CodeNotSupported:  {v1.ErrorTypeMleError, 400},
	CodeInvalidValue:  {v1.ErrorTypeInvalidRequestError, 400},
	CodeMediaType:     {v1.ErrorTypeInvalidRequestError, 415},
	CodeTooLarge:      {v1.ErrorTypeInvalidRequestError, 413},
	CodeRateLimited:   {v1.ErrorTypeRateLimitError, 429},
	CodeUnavailable:   {v1.ErrorTypeAPIError, 503},
	CodeInternal:      {v1.ErrorTypeAPIError, 500},
}

// Codes lists the codes of the engine's problems.
func Codes() []string {
	codes := make([]string, 0, len(problems))
	for code := range problems {
		codes = append(codes, code)
	}
	return codes
}

// Problem is a rejection, sent to the client as a v1 error body. It is always sent in the clear. So
// it contains nothing of the request and nothing that depends on a private key.
type Problem struct {
	Status     int
	Type       v1.ErrorType
	Code       string
	Message    string
	Param      string // the header field at fault, or ""
	RetryAfter int    // seconds; 0 sends no Retry-After
	Reason     string // a short word for logs and metrics
	Cause      error  // for the log only; nil unless the fault is on our side
}

func problem(code, reason, message string) *Problem {
	row := problems[code]
	return &Problem{Status: row.status, Type: row.errorType, Code: code, Message: message, Reason: reason}
}

func (p *Problem) at(param string) *Problem {
	p.Param = param
	return p
}

// Body returns the problem as the body of a response, application/json.
func (p *Problem) Body(requestID string) []byte {
	e := v1.Error{Type: p.Type, Code: p.Code, Message: p.Message, Status: p.Status, RequestID: requestID}
	if p.Param != "" {
		e.Param = &p.Param
	}
	body, err := json.Marshal(e.Body())
	if err != nil { // a request id that is not UTF-8
		return p.Body("")
	}
	return append(body, '\n')
}

// Ops returns the changes that give an empty response the header fields of the problem.
func (p *Problem) Ops(body []byte) []HeaderOp {
	ops := []HeaderOp{
		Set("content-type", "application/json"), Set("content-length", strconv.Itoa(len(body))),
		Set("cache-control", "no-store"), Set(fieldVersion, v1.Version),
	}
	if p.Status == 401 {
		ops = append(ops, Set("www-authenticate", "Bearer"))
	}
	if p.RetryAfter > 0 {
		ops = append(ops, Set("retry-after", strconv.Itoa(p.RetryAfter)))
	}
	return ops
}

// unavailable returns a temporary problem on our side.
func unavailable(reason string, seconds int, cause error) *Problem {
	p := problem(
		CodeUnavailable, reason, "Encrypted requests cannot be processed at the moment. Nothing was changed. Retry.",
	)
	p.RetryAfter, p.Cause = seconds, cause
	return p
}

// behindItself returns the problem of a client that waited too long for its own decryptions. It is
// no fault of the service, so it must not count as one.
func behindItself() *Problem {
	p := problem(CodeRateLimited, ReasonOwn, v1.MessageRateLimited)
	p.RetryAfter = retryBusy
	return p
}

// broken returns a problem that occurred after core's response. Core's work is not undone.
func broken(reason string, cause error) *Problem {
	p := problem(CodeInternal, reason, "The response could not be encrypted. The request may have been carried out: "+
		"send it again with the same Idempotency-Key.")
	p.Cause = cause
	return p
}
