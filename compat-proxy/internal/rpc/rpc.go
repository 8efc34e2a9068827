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
	"github.com/causeway-pay/causeway/shared/jsonscan"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The error codes: the codes of JSON-RPC 2.0 and, in its range for servers, one for a method that
// this build does not serve.
const (
	codeParse     = -32700
	codeRequest   = -32600
	codeMethod    = -32601
	codeParams    = -32602
	codeInternal  = -32603
	codeNotServed = -32001
	codeBusy      = -32002
	version       = "2.0"
	maxBatch      = 16
	maxResults    = 1 << 20        // bytes of a batch's results after which no further call begins
	maxIdentifier = 128            // bytes of an id as it was written
	utf8BOM       = "\xef\xbb\xbf" // which some clients write at the beginning of UTF-8
)

// ErrNotServed is the error of a Dialect for a method of the catalogue that this build does not
// serve.
var ErrNotServed = errors.New("rpc: method not served")

// ParamsError is the error of a Dialect for params that never reached the method.
type ParamsError struct {
	// Code and Text are the dialect's code and text of the fault.
	Code, Text string
}

// Error implements error. It leaves the text out, which may repeat the client's input.
func (e *ParamsError) Error() string { return "rpc: the dialect rejected params with code " + e.Code }

// Dialect serves calls from the RPC endpoint.
type Dialect interface {
	// Call executes the method of that name in the dialect and returns its JSON response. The error
	// is ErrNotServed or a *ParamsError; with either nothing was executed.
	Call(ctx context.Context, name string, params jsontext.Value, originOf Origin) (jsontext.Value, error)
}

// Origin is the HTTP request that contained a call, as it was received. Clients of some dialects
// log in by signing it.
type Origin struct {
	Method, Host string
	// Target is the escaped path with its query.
	Target string
	Header http.Header
	Body   []byte
	// Position is the position of the call in a batch, from 1; 0 for a single call.
	Position int

	full bool // the results of a batch before it are as long as they may be
}

// Method serves the calls of one RPC name.
type Method struct {
	Dialect Dialect // nil if the method is known and not served
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

// request is one call as it was received.
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

// faultData is the dialect's code and text of a fault.
type faultData struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// ServeHTTP responds to a call or a batch with status 200, and to a body of only notifications with
// 204. A notification is not executed: money must not move without a response.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := admission.ReadBody(w, r, h.MaxBytes)
	if err != nil {
		h.bodyError(w, r, err)
		return
	}
	value := jsontext.Value(bytes.TrimSpace(bytes.TrimPrefix(body, []byte(utf8BOM))))
	if jsonscan.TooMany(value) { // before IsValid, which collects the names of each object
		reject(w, r, "The body has more than "+strconv.Itoa(jsonscan.MaxValues)+" values. Send fewer.")
		return
	}
	if !value.IsValid() {
		httpx.EventFrom(r.Context()).SetOutcome(strconv.Itoa(codeParse))
		write(w, encode(response{Error: &fault{
			Code:    codeParse,
			Message: "The body is not valid JSON, or an object in it has a key twice. Send one call, or an array of calls.",
		}}))
		return
	}
	if value.Kind() != jsontext.KindBeginArray {
		if resp, respond := h.executeCall(r, value, originOf(r, body)); respond {
			write(w, encode(resp))
			return
		}
		w.WriteHeader(http.StatusNoContent)
		return
	}
	h.batch(w, r, value, originOf(r, body))
}

// bodyError responds to a request whose body was not read.
func (h *Handler) bodyError(w http.ResponseWriter, r *http.Request, err error) {
	if admission.IsBusy(err) {
		Busy(w, r)
		return
	}
	httpx.EventFrom(r.Context()).SetOutcome(strconv.Itoa(codeRequest))
	status, text := http.StatusOK, "The body could not be read, or is longer than "+
		strconv.FormatInt(h.MaxBytes, 10)+" bytes. Nothing was changed: send it whole, or send a smaller one."
	if errors.Is(err, admission.ErrSlow) {
		status, text = http.StatusRequestTimeout, v1.MessageBodyTooSlow
	}
	writeStatus(w, status, encode(response{Error: &fault{Code: codeRequest, Message: text}}))
}

func originOf(r *http.Request, body []byte) Origin {
	return Origin{Method: r.Method, Host: r.Host, Target: r.URL.RequestURI(), Header: r.Header, Body: body}
}

// growth is how many bytes the growing results of a batch need for each of their bytes.
const growth = 2

// batch runs the calls in sequence, because later ones often depend on earlier ones.
func (h *Handler) batch(w http.ResponseWriter, r *http.Request, value jsontext.Value, in Origin) {
	calls := callsOf(value)
	if len(calls) == 0 || len(calls) > maxBatch {
		reject(w, r, "The batch is empty or too long. Send 1 to "+strconv.Itoa(maxBatch)+" calls in a batch.")
		return
	}
	out := []byte{'['}
	for i, call := range calls {
		in.Position, in.full = i+1, len(out) >= maxResults
		resp, respond := h.executeCall(r, call, in)
		if !respond {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		result := encode(resp)
		out = append(out, result...)
		_ = admission.Sent(r.Context(), r.Method, growth*int64(len(result))) // counts it: the call was executed
	}
	if len(out) == 1 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	write(w, append(out, ']'))
}

// callsOf returns the calls of a valid batch, at most one more than maxBatch.
func callsOf(value jsontext.Value) (calls []jsontext.Value) {
	d := jsontext.NewDecoder(bytes.NewBuffer(value))
	_, err := d.ReadToken() // the bracket
	for err == nil && len(calls) <= maxBatch && d.PeekKind() != jsontext.KindEndArray {
		var call jsontext.Value
		call, err = d.ReadValue()
		calls = append(calls, call.Clone())
	}
	return calls
}

// reject responds to a body of which no call was executed.
func reject(w http.ResponseWriter, r *http.Request, message string) {
	httpx.EventFrom(r.Context()).SetOutcome(strconv.Itoa(codeRequest))
	write(w, encode(response{Error: &fault{Code: codeRequest, Message: message}}))
}

// executeCall executes one call and returns its response; false for a notification.
func (h *Handler) executeCall(r *http.Request, call jsontext.Value, in Origin) (response, bool) {
	event := httpx.EventFrom(r.Context())
	var q request
	if err := json.Unmarshal(call, &q, json.RejectUnknownMembers(true)); err != nil ||
		call.Kind() != jsontext.KindBeginObject {
		event.SetOutcome(strconv.Itoa(codeRequest))
		return response{Error: &fault{
			Code:    codeRequest,
			Message: "The call is not an object, or has an unknown member. Send only jsonrpc, id, method and params.",
		}}, true
	}
	resp, name := response{ID: q.ID}, text(q.Method)
	switch {
	case text(q.Version) != version || q.Method.Kind() != jsontext.KindString || !validID(q.ID):
		resp.ID = nil
		resp.Error = &fault{
			Code: codeRequest,
			Message: `jsonrpc, method or id is invalid. Send jsonrpc as "2.0", method as a string, and id as a number or a ` +
				`string of at most ` + strconv.Itoa(maxIdentifier) + ` bytes.`,
		}
	case q.ID == nil:
		return response{}, false
	case in.full, h.MayBegin != nil && !h.MayBegin(r.Context()):
		resp.Error = busy()
	default:
		resp.Result, resp.Error = h.call(r, name, q.Params, in)
	}
	if resp.Error != nil {
		event.SetOutcome(strconv.Itoa(resp.Error.Code))
	}
	return resp, true
}

func (h *Handler) call(r *http.Request, name string, params jsontext.Value, in Origin) (jsontext.Value, *fault) {
	m, known := h.Methods[name]
	if !known {
		return nil, &fault{
			Code:    codeMethod,
			Message: "The method is unknown. GET /compat/methods lists the methods with their RPC names.",
		}
	}
	if params.Kind() != jsontext.KindBeginObject {
		return nil, &fault{
			Code:    codeParams,
			Message: "params is not an object. Send the JSON body of the method, without its wrapper.",
		}
	}
	if m.Dialect == nil {
		return nil, notServed()
	}
	result, err := m.Dialect.Call(r.Context(), m.Name, params, in)
	var refused *ParamsError
	switch {
	case err == nil:
		return result, nil
	case errors.As(err, &refused):
		return nil, &fault{
			Code: codeParams, Message: "The method rejected params. The member data has the reason.",
			Data: &faultData{refused.Code, refused.Text},
		}
	case errors.Is(err, ErrNotServed):
		return nil, notServed()
	}
	return nil, &fault{
		Code:    codeInternal,
		Message: "Internal error. The outcome of the call is unknown: query the payment before you send the call again.",
	}
}

func notServed() *fault {
	return &fault{
		Code:    codeNotServed,
		Message: "This version does not serve the method. GET /compat/methods lists the available methods.",
	}
}

// validID reports whether an id may be echoed: a string, a number, or none.
func validID(id jsontext.Value) bool {
	return id == nil || len(id) <= maxIdentifier && (id.Kind() == jsontext.KindString || id.Kind() == jsontext.KindNumber)
}

// text returns the text of a JSON string, and "" for any other value.
func text(v jsontext.Value) string {
	var s string
	if v.Kind() != jsontext.KindString || json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

// encode writes a response. Its id is null if the call has no valid id.
func encode(a response) []byte {
	a.Version = version
	if a.ID == nil {
		a.ID = jsontext.Value("null")
	}
	out, err := json.Marshal(a)
	if err != nil {
		return []byte(`{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error. The outcome of the call is ` +
			`unknown."},"id":null}`)
	}
	return out
}

// Busy rejects a request because the proxy is at its limit.
func Busy(w http.ResponseWriter, r *http.Request) {
	httpx.EventFrom(r.Context()).SetOutcome(strconv.Itoa(codeBusy))
	w.Header().Set("Retry-After", "1")
	write(w, encode(response{Error: busy()}))
}

// busy returns the error of a call that was not begun.
func busy() *fault {
	return &fault{Code: codeBusy, Message: "The server is busy. Nothing was executed: send the call again later."}
}

func write(w http.ResponseWriter, body []byte) { writeStatus(w, http.StatusOK, body) }

func writeStatus(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone; the effect of the call stays
}
