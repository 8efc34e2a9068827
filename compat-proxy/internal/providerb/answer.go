package providerb

import (
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
)

// answer is a response: a status and a body, which is written as JSON.
type answer struct {
	status  int
	body    any
	outcome string // for the log
	// seal encrypts the body to the client; nil for a plain one.
	seal func(text []byte) ([]byte, error)
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

// unauthenticated is the response to a request without a valid login.
func unauthenticated() answer {
	type response struct {
		Message string `json:"rmsg"`
	}
	return answer{status: http.StatusUnauthorized, body: struct {
		Response response `json:"response"`
	}{response{"Authentication Failed"}}, outcome: "unauthenticated"}
}

// plain is a response with only a message.
func plain(status int, text, outcome string) answer {
	return answer{status: status, body: message{text}, outcome: outcome}
}

// refused is the response to a request that was not processed. An empty field names none.
func refused(now time.Time, reason, text, field string) answer {
	body := wire.Answer{SubmitTimeUTC: stamp(now), Status: statusInvalid, Reason: reason, Message: text}
	if field != "" {
		detail := reasonInvalid
		if reason == reasonMissing {
			detail = reasonMissing
		}
		body.Details = []wire.Detail{{Field: field, Reason: detail}}
	}
	return answer{status: http.StatusBadRequest, body: body, outcome: reason}
}

// failed is the response if v1 or a hop to it failed, or the outcome is unknown.
func failed(now time.Time, reason, text string) answer {
	return answer{
		status: http.StatusBadGateway, outcome: reason,
		body: wire.Answer{SubmitTimeUTC: stamp(now), Status: statusServer, Reason: reason, Message: text},
	}
}
