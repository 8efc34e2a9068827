package rpc

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// The error codes: the codes of JSON-RPC 2.0 and, in its range for servers, one for a method that
// this build does not serve.
const (
	codeParse     = -32700
	codeRequest   = -32600
	codeMethod    = -32601
	codeParams    = -32602
	codeInternal  = -32603
	codeUnserved  = -32001
	codeBusy      = -32002
	version       = "2.0"
	maxBatch      = 16
	maxIdentifier = 128            // bytes of an id as it was written
	mark          = "\xef\xbb\xbf" // which some clients write at the beginning of UTF-8
)

// ErrUnserved is the error of a Dialect for a method of the catalogue that this build does not
// serve.
var ErrUnserved = errors.New("rpc: method not served")

// ParamsError is the error of a Dialect for params that never reached the method.
type ParamsError struct {
	// Code and Text are the dialect's own words for the fault.
	Code, Text string
}

// Error implements error. It leaves the text out, which may repeat the client's input.
func (e *ParamsError) Error() string { return "rpc: params refused with " + e.Code }

// Dialect serves calls that do not come to its own endpoint.
type Dialect interface {
	// Call executes the method of that name in the dialect and returns its JSON response. The error
	// is ErrUnserved or a *ParamsError; with either nothing was executed.
	Call(ctx context.Context, name string, params jsontext.Value, asked Asked) (jsontext.Value, error)
}

// Asked is the request that a call is in, as it was received: some dialects' clients log in by
// signing it.
type Asked struct {
	Method, Host string
	// Target is the escaped path with its query.
	Target string
	Header http.Header
	Body   []byte
	// Place is the call's in a batch, from 1; 0 for a call alone.
	Place int
}

// Method is what one RPC name stands for.
type Method struct {
	Dialect Dialect // nil: known, and not served
	Name    string  // in the dialect
}

// Handler is the JSON-RPC endpoint. Its zero value serves no method.
type Handler struct {
	// Methods are keyed by their RPC names.
	Methods map[string]Method
	// MaxBytes bounds a request body.
	MaxBytes int64
	// MayBegin reports whether a request with this context has enough time left for a further call.
	// Nil means always.
	MayBegin func(ctx context.Context) bool
}

// request is one call as it came.
type request struct {
	Version jsontext.Value `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  jsontext.Value `json:"method"`
	Params  jsontext.Value `json:"params"`
}

// response is the response to one call: Result or Error.
type response struct {
	Version string         `json:"jsonrpc"`
	Result  jsontext.Value `json:"result,omitempty"`
	Error   *fault         `json:"error,omitempty"`
	ID      jsontext.Value `json:"id"`
}

// fault is a JSON-RPC error.
type fault struct {
	Code    int        `json:"code"`
	Message string     `json:"message"`
	Data    *faultData `json:"data,omitempty"`
}

// faultData is a fault in the dialect's own words.
type faultData struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// ServeHTTP responds to a call or a batch with status 200, and to a body of only notifications with
// 204. A notification is not executed: money must not move without a response.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := admission.ReadBody(w, r, h.MaxBytes)
	if err != nil {
		h.unread(w, r, err)
		return
	}
	value := jsontext.Value(bytes.TrimSpace(bytes.TrimPrefix(body, []byte(mark))))
	if !value.IsValid() {
		httpx.EventFrom(r.Context()).SetOutcome(strconv.Itoa(codeParse))
		write(w, encode(response{Error: &fault{Code: codeParse, Message: "The body is not JSON, or repeats a key."}}))
		return
	}
	if value.Kind() != jsontext.KindBeginArray {
		if answer, reply := h.one(r, value, asked(r, body)); reply {
			write(w, encode(answer))
			return
		}
		w.WriteHeader(http.StatusNoContent)
		return
	}
	h.batch(w, r, value, asked(r, body))
}

// unread responds to a request whose body was not read.
func (h *Handler) unread(w http.ResponseWriter, r *http.Request, err error) {
	if admission.IsBusy(err) {
		Busy(w, r)
		return
	}
	httpx.EventFrom(r.Context()).SetOutcome(strconv.Itoa(codeRequest))
	status, text := http.StatusOK, "The body is too long or could not be read."
	if errors.Is(err, admission.ErrSlow) {
		status, text = http.StatusRequestTimeout, "The body arrived too slowly. Nothing was executed."
	}
	writeStatus(w, status, encode(response{Error: &fault{Code: codeRequest, Message: text}}))
}

func asked(r *http.Request, body []byte) Asked {
	return Asked{Method: r.Method, Host: r.Host, Target: r.URL.RequestURI(), Header: r.Header, Body: body}
}

// batch runs the calls one after the other, as later ones often need what earlier ones did.
func (h *Handler) batch(w http.ResponseWriter, r *http.Request, value jsontext.Value, in Asked) {
	var calls []jsontext.Value
	if err := json.Unmarshal(value, &calls); err != nil || len(calls) == 0 || len(calls) > maxBatch {
		httpx.EventFrom(r.Context()).SetOutcome(strconv.Itoa(codeRequest))
		write(w, encode(response{Error: &fault{Code: codeRequest, Message: "A batch has 1 to 16 calls."}}))
		return
	}
	out := []byte{'['}
	for i, call := range calls {
		in.Place = i + 1
		if answer, reply := h.one(r, call, in); reply {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, encode(answer)...)
		}
	}
	if len(out) == 1 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	write(w, append(out, ']'))
}

// one executes one call and returns its response; false for a notification.
func (h *Handler) one(r *http.Request, call jsontext.Value, in Asked) (response, bool) {
	event := httpx.EventFrom(r.Context())
	var q request
	if err := json.Unmarshal(call, &q, json.RejectUnknownMembers(true)); err != nil ||
		call.Kind() != jsontext.KindBeginObject {
		event.SetOutcome(strconv.Itoa(codeRequest))
		return response{Error: &fault{
			Code:    codeRequest,
			Message: "A call has jsonrpc, id, method and params, and nothing else.",
		}}, true
	}
	answer, name := response{ID: q.ID}, text(q.Method)
	switch {
	case text(q.Version) != version || q.Method.Kind() != jsontext.KindString || !validID(q.ID):
		answer.ID = nil
		answer.Error = &fault{Code: codeRequest, Message: `jsonrpc is "2.0", method a string, id a string or a number.`}
	case q.ID == nil:
		return response{}, false
	case h.MayBegin != nil && !h.MayBegin(r.Context()):
		answer.Error = busy()
	default:
		answer.Result, answer.Error = h.call(r, name, q.Params, in)
	}
	if answer.Error != nil {
		event.SetOutcome(strconv.Itoa(answer.Error.Code))
	}
	return answer, true
}

func (h *Handler) call(r *http.Request, name string, params jsontext.Value, in Asked) (jsontext.Value, *fault) {
	m, known := h.Methods[name]
	if !known {
		return nil, &fault{Code: codeMethod, Message: "There is no such method. GET /compat/methods lists what there is."}
	}
	if params.Kind() != jsontext.KindBeginObject {
		return nil, &fault{
			Code:    codeParams,
			Message: "params is an object: the JSON body of the method, without its wrapper.",
		}
	}
	if m.Dialect == nil {
		return nil, unserved()
	}
	result, err := m.Dialect.Call(r.Context(), m.Name, params, in)
	var refused *ParamsError
	switch {
	case err == nil:
		return result, nil
	case errors.As(err, &refused):
		return nil, &fault{
			Code: codeParams, Message: "The method does not take these params.",
			Data: &faultData{refused.Code, refused.Text},
		}
	case errors.Is(err, ErrUnserved):
		return nil, unserved()
	}
	return nil, &fault{Code: codeInternal, Message: "Something went wrong here; nothing is known of the call."}
}

func unserved() *fault {
	return &fault{Code: codeUnserved, Message: "This build does not serve the method."}
}

// validID reports whether an id may be echoed: a string, a number, or none.
func validID(id jsontext.Value) bool {
	return id == nil || len(id) <= maxIdentifier && (id.Kind() == jsontext.KindString || id.Kind() == jsontext.KindNumber)
}

// text is a JSON string's, and "" for anything else.
func text(v jsontext.Value) string {
	var s string
	if v.Kind() != jsontext.KindString || json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// encode writes a response; one to a call whose id is not known has a null.
func encode(a response) []byte {
	a.Version = version
	if a.ID == nil {
		a.ID = jsontext.Value("null")
	}
	out, err := json.Marshal(a)
	if err != nil {
		return []byte(`{"jsonrpc":"2.0","error":{"code":-32603,"message":"The answer could not be written."},"id":null}`)
	}
	return out
}

// Busy rejects a request because the proxy is at its limit.
func Busy(w http.ResponseWriter, r *http.Request) {
	httpx.EventFrom(r.Context()).SetOutcome(strconv.Itoa(codeBusy))
	w.Header().Set("Retry-After", "1")
	write(w, encode(response{Error: busy()}))
}

// busy is the error of a call that was not begun.
func busy() *fault {
	return &fault{Code: codeBusy, Message: "Too busy. Nothing was executed; ask again."}
}

func write(w http.ResponseWriter, body []byte) { writeStatus(w, http.StatusOK, body) }

func writeStatus(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone; the effect of the call stays
}
