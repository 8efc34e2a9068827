package httpx

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// refusals are the v1 errors of requests that reach no handler of a program, by status.
var refusals = map[int]v1.Error{
	400: {Type: v1.ErrorTypeInvalidRequestError, Code: "invalid_request", Message: v1.MessageNotHTTP},
	404: {Type: v1.ErrorTypeInvalidRequestError, Code: "route_not_found", Message: v1.MessageNoRoute},
	405: {Type: v1.ErrorTypeInvalidRequestError, Code: "method_not_allowed", Message: v1.MessageNoMethod},
	417: {Type: v1.ErrorTypeInvalidRequestError, Code: "invalid_request", Message: v1.MessageExpect},
	431: {Type: v1.ErrorTypeInvalidRequestError, Code: "headers_too_large", Message: v1.MessageHeadersTooLarge},
	500: {Type: v1.ErrorTypeAPIError, Code: "internal_error", Message: v1.MessageInternal},
	501: {Type: v1.ErrorTypeInvalidRequestError, Code: "invalid_request", Message: v1.MessageTransferEncoding},
	503: {Type: v1.ErrorTypeAPIError, Code: "service_unavailable", Message: v1.MessageUnreachable},
	505: {Type: v1.ErrorTypeInvalidRequestError, Code: "invalid_request", Message: v1.MessageHTTPVersion},
}

// refusalOf returns the v1 error for a status. A status that is not in refusals gets a general one.
func refusalOf(status int) v1.Error {
	e, known := refusals[status]
	switch {
	case known:
	case status >= http.StatusInternalServerError:
		e = refusals[http.StatusInternalServerError]
	default:
		e = refusals[http.StatusBadRequest]
		e.Message = v1.MessageInvalidRequest
	}
	e.Status = status
	return e
}

// refusalBody returns the body of a response with an error.
func refusalBody(e v1.Error, requestID string) []byte {
	e.RequestID = requestID
	body, err := json.Marshal(e.Body())
	if err != nil {
		return nil // not reached: the fields are texts and a number
	}
	return body
}

// Refuse sends the v1 error for a status. The response gets a request id unless it has one.
func Refuse(w http.ResponseWriter, status int) {
	h := w.Header()
	requestID := h.Get("Request-Id")
	if requestID == "" {
		requestID = id.Random(id.Request)
		h.Set("Request-Id", requestID)
	}
	body := refusalBody(refusalOf(status), requestID)
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set(v1.VersionField, v1.Version)
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have disconnected
}

// RefuseText replaces the errors that next writes as text by v1's errors. http.ServeMux, http.Error
// and the handlers of libraries write such errors. Every response gets a request id and the fields
// of SecurityHeaders.
func RefuseText(next http.Handler) http.Handler {
	return RequestID(SecurityHeaders(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&textRefuser{ResponseWriter: w}, r)
	})))
}

// textRefuser is the ResponseWriter of RefuseText.
type textRefuser struct {
	http.ResponseWriter
	began, refused bool
}

// Unwrap is for http.ResponseController.
func (w *textRefuser) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *textRefuser) WriteHeader(status int) {
	if w.refused {
		return
	}
	if !w.began && status >= http.StatusBadRequest && isText(w.Header().Get("Content-Type")) {
		w.refused = true
		Refuse(w.ResponseWriter, status)
		return
	}
	w.began = w.began || status >= http.StatusOK
	w.ResponseWriter.WriteHeader(status)
}

// isText reports whether a Content-Type is plain text. None stands for no body.
func isText(mediaType string) bool {
	return mediaType == "" || mediaType == "text/plain" || mediaType == "text/plain; charset=utf-8"
}

func (w *textRefuser) Write(b []byte) (int, error) {
	if w.refused {
		return len(b), nil
	}
	w.began = true
	return w.ResponseWriter.Write(b)
}
