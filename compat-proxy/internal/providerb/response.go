package providerb

import (
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// response is a response: a status and a body, which is written as JSON.
type response struct {
	status  int
	body    any
	outcome string // for the log
	allow   string // the methods of the path, for a 405
	// encrypt encrypts the body to the client; nil for a plain one.
	encrypt func(text []byte) ([]byte, error)
}

// The statuses and reasons of requests that were not processed.
const (
	statusInvalid = "INVALID_REQUEST"
	statusServer  = "SERVER_ERROR"

	reasonMissing = "MISSING_FIELD"
	reasonInvalid = "INVALID_DATA"
	reasonSystem  = "SYSTEM_ERROR"
	reasonTimeout = "SERVER_TIMEOUT"
)

// message is the body of a response outside the methods.
type message struct {
	Message string `json:"message"`
}

// unauthenticated returns the response to a request without a valid login.
func unauthenticated() response {
	type failure struct {
		Message string `json:"rmsg"`
	}
	return response{status: http.StatusUnauthorized, body: struct {
		Response failure `json:"response"`
	}{failure{"Authentication Failed"}}, outcome: "unauthenticated"}
}

// messageResponse returns a response with only a message.
func messageResponse(status int, text, outcome string) response {
	return response{status: status, body: message{text}, outcome: outcome}
}

// refused returns the response to a request that was not processed. An empty field names none.
func refused(now time.Time, text, field string) response {
	body := wire.Response{SubmitTimeUTC: stamp(now), Status: statusInvalid, Reason: reasonInvalid, Message: text}
	if field != "" {
		body.Details = []wire.Detail{{Field: field, Reason: reasonInvalid}}
	}
	return response{status: http.StatusBadRequest, body: body, outcome: reasonInvalid}
}

// encryptionRequired returns the response to a merchant whose policy requires encryption.
func encryptionRequired(now time.Time) response {
	out := refused(now, textInvalid+": "+v1.MessageLegacyMLE, "")
	out.outcome = v1.CodeMLERequired
	return out
}

// serverError returns the response if v1 or a hop to it failed, or the outcome is unknown.
func serverError(now time.Time, reason, text string) response {
	return response{
		status: http.StatusBadGateway, outcome: reason,
		body: wire.Response{SubmitTimeUTC: stamp(now), Status: statusServer, Reason: reason, Message: text},
	}
}
