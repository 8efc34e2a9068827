package providerb

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/compat-proxy/internal/dialect"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// class returns the class of the response.
func (a response) class() string {
	body, _ := a.body.(wire.Response)
	switch {
	case body.Status == statusDeclined:
		return dialect.ClassDeclined
	case a.status/100 == 2:
		return dialect.ClassApproved
	case a.status/100 == 4:
		return dialect.ClassRefused
	}
	return dialect.ClassFailed
}

// notFound returns the response to a request without a known operation. allow names the methods of
// its path; "" stands for an unknown path.
func notFound(allow string) response {
	if allow != "" {
		out := messageResponse(http.StatusMethodNotAllowed, "The method is not allowed here.", "method_not_allowed")
		out.allow = allow
		return out
	}
	return messageResponse(http.StatusNotFound, "The requested resource does not exist", "not_found")
}

// forbidden returns the response to a caller whose key lacks a scope.
func forbidden(scope string) response { return denied("The key lacks the scope " + scope + ".") }

// secretInBrowser returns the response to a secret API key with an Origin header, which only
// browsers send.
func secretInBrowser() response {
	return denied(v1.MessageSecretKeyInBrowser)
}

// denied returns a 403 with the text.
func denied(text string) response {
	type fault struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	return response{status: http.StatusForbidden, body: struct {
		Errors  []fault `json:"errors"`
		Message string  `json:"message"`
	}{[]fault{{"FORBIDDEN", text}}, text}, outcome: "forbidden"}
}

// Busy responds to requests for which the server has no capacity. Nothing was executed.
func Busy(c clock.Clock) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpx.EventFrom(r.Context()).SetOutcome(httpx.OutcomeBusy)
		setCorrelationID(w, r)
		w.Header().Set("Retry-After", "1")
		write(w, tooBusy(c.Now()))
	})
}

// tooBusy returns the response to a request that was not executed for lack of capacity. It has
// httpx.OutcomeBusy.
func tooBusy(now time.Time) response {
	out := serverError(now, reasonSystem, "Error - Too busy. Nothing was executed.")
	out.status, out.outcome = http.StatusServiceUnavailable, httpx.OutcomeBusy
	return out
}

// Broken responds to a request that ended in a panic. The outcome is unknown, so it is not a
// refusal.
func Broken(c clock.Clock) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		setCorrelationID(w, r)
		write(w, response{status: http.StatusInternalServerError, body: wire.Response{
			SubmitTimeUTC: stamp(c.Now()), Status: statusServer, Reason: reasonSystem, Message: textSystem,
		}})
	}
}

// setCorrelationID gives the response the request's correlation id, or a new one.
func setCorrelationID(w http.ResponseWriter, r *http.Request) {
	const header, longest = "V-C-Correlation-Id", 128
	if w.Header().Get(header) != "" {
		return
	}
	id := r.Header.Get(header)
	if id == "" || len(id) > longest {
		var b [16]byte
		_, _ = rand.Read(b[:]) // it never fails
		b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
		text := hex.EncodeToString(b[:])
		id = strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
	}
	w.Header().Set(header, id)
}

// write sends a response.
func write(w http.ResponseWriter, a response) {
	body, err := json.Marshal(a.body, json.Deterministic(true))
	if err != nil {
		// not reached: the types are fixed
		body = []byte(`{"message":"Internal error. The outcome of the request is unknown."}`)
	}
	header := w.Header()
	header.Set("Content-Type", "application/hal+json;charset=utf-8")
	if a.encrypt != nil {
		// If this fails, the body is sent in plain text, which every client accepts. The client must get
		// the outcome.
		if text, err := a.encrypt(body); err == nil {
			body = text
			header.Set("Content-Type", "application/json")
		}
	}
	if a.allow != "" {
		header.Set("Allow", a.allow)
	}
	header.Set("Cache-Control", "no-cache, no-store")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // if the client is gone, the effect stays
}

// stamp returns a time in the dialect's form.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }
