package providera

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/compat-proxy/internal/dialect"
	"github.com/causeway-pay/causeway/compat-proxy/internal/parity"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/httpx"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Config holds the settings of a Handler. Logins is required.
type Config struct {
	dialect.Config

	Logins Logins
	// LenientOrder accepts children in any order.
	LenientOrder bool
}

// Handler serves the dialect over HTTP. Its status is 200, or 408 for a slow body: clients read the
// document.
type Handler struct {
	cfg Config
}

var _ http.Handler = (*Handler)(nil)

// New returns a handler.
func New(cfg Config) *Handler { return &Handler{cfg: cfg} }

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.cfg.Measure(func() (method, class string) { return h.serve(w, r) })
}

// serve responds to the request, and returns its method and the class of its outcome.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) (method, class string) {
	body, err := admission.ReadBody(w, r, h.cfg.MaxBytes)
	if err != nil {
		return dialect.MethodNone, bodyError(w, r, body, err)
	}
	req, fault := wire.Parse(body, h.parseOptions(r.Header))
	if fault != nil {
		sendFault(w, r, http.StatusOK, fault)
		return dialect.MethodNone, dialect.ClassRefused
	}
	m, known := catalogue.Find(catalogue.ProviderA, req.Method)
	if !known {
		sendFault(w, r, http.StatusOK, wire.UnknownMethod(req.Format))
		return dialect.MethodNone, dialect.ClassRefused
	}
	doc, outcome := h.respond(r.Context(), req, m, r.Header, 0)
	httpx.EventFrom(r.Context()).SetOutcome(outcome.String())
	write(w, http.StatusOK, req.Format, doc.Bytes(req.Format))
	return m.Name, outcome.class()
}

// parseOptions returns the options for parsing the document of a request with the header.
func (h *Handler) parseOptions(header http.Header) wire.Options {
	_, bearer := bearerKey(header)
	return wire.Options{
		LenientOrder: h.cfg.LenientOrder, Lenient: h.cfg.Logins.LenientOrder, MaxBytes: int(h.cfg.MaxBytes),
		LoginInHeader: bearer,
	}
}

// bodyError responds to a request whose body was read only in part, and returns the class.
func bodyError(w http.ResponseWriter, r *http.Request, start []byte, err error) string {
	format, status, class := formatOf(w, r, start), http.StatusOK, dialect.ClassRefused
	f := faultOf(format, apiProcessing)
	switch {
	case admission.IsBusy(err):
		f, class = faultOf(format, apiBusy), dialect.ClassBusy
	case errors.Is(err, admission.ErrSlow):
		status = http.StatusRequestTimeout
	case errors.Is(err, admission.ErrTooLarge):
		f = wire.Malformed(format)
	}
	sendFault(w, r, status, f)
	return class
}

// oversizeWait bounds the wait for the first bytes of a body that will be refused.
const oversizeWait = 500 * time.Millisecond

// Options responds to a browser's preflight request. It allows no credentials: a browser accepts
// them for no wildcard origin. The login of a browser's request is in the body.
func Options(w http.ResponseWriter, _ *http.Request) {
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Allow-Methods", "PUT,OPTIONS,POST,GET")
	header.Set("Access-Control-Allow-Headers", "x-requested-with,cache-control,content-type,origin,method,SOAPAction")
	header.Set("Content-Length", "0")
	w.WriteHeader(http.StatusOK)
}

// Busy responds to a request for which the server has no capacity.
func Busy(w http.ResponseWriter, r *http.Request) {
	sendFault(w, r, http.StatusOK, faultOf(formatOf(w, r, nil), apiBusy))
}

// Broken responds to a request whose handling ended in a panic. The body cannot be read again, so
// the format comes from the Content-Type, which may be wrong.
func Broken(w http.ResponseWriter, r *http.Request) {
	sendFault(w, r, http.StatusOK, faultOf(declaredFormat(r), apiProcessing))
}

// declaredFormat returns the format of the request's Content-Type, which may be wrong.
func declaredFormat(r *http.Request) wire.Format {
	if strings.Contains(strings.ToLower(r.Header.Get("Content-Type")), "json") {
		return wire.JSON
	}
	return wire.XML
}

// respond does everything between a schema-valid request and its document. position is that of the
// request in a batch, from 1; 0 for a single request.
func (h *Handler) respond(
	ctx context.Context, req *wire.Request, m catalogue.Method, header http.Header, position int,
) (*wire.Document, problem) {
	root := strings.TrimSuffix(req.Method, "Request") + "Response"
	switch m.Name {
	case catalogue.CustomerTransactions:
		root = transactionListResponse
	case catalogue.ProfileFromTransaction:
		root = createCustomerProfileResponse
	}
	if len(m.Scopes) == 0 {
		return handlers[m.Name](h, ctx, call{req: req})
	}
	granted, holder, p := h.admit(ctx, req, m, header)
	var name string
	if p.none() {
		name, p = requestName(m, header, position)
	}
	if !p.none() {
		return refusal(root, req.RefID, p), p
	}
	currency := granted.Currency
	if currency == "" {
		currency = h.cfg.Currency
	}
	return handlers[m.Name](h, ctx, call{
		req: req, key: granted.APIKey, name: name, scopes: holder.Scopes, merchant: holder.Merchant,
		basis: basis{
			currency: currency, unlinked: granted.UnlinkedRefunds, named: name != "", signatureKey: granted.SignatureKey,
			zone: granted.Zone, now: h.cfg.Clock.Now(), rules: parity.For(catalogue.ProviderA, granted.Sandbox, holder.Mode),
		},
	})
}

// admit returns the grant of the request's login and v1's record of its API key, or the refusal.
func (h *Handler) admit(
	ctx context.Context, req *wire.Request, m catalogue.Method, header http.Header,
) (granted credentials.Grant, holder v1.APIKey, p problem) {
	login := req.Root.Child("merchantAuthentication")
	tried := attemptedSecret(header, login)
	judged := h.cfg.Admit(ctx, login.Get("name"), tried, func() dialect.Login {
		if granted, p = authenticate(ctx, h.cfg.Logins, header, login); p.none() {
			holder, p = h.permit(ctx, granted.APIKey, m)
		}
		switch p.API {
		case apiBadLogin:
			return dialect.LoginRefused
		case apiOK, "":
			return dialect.LoginAccepted
		default:
			return dialect.LoginUndecided
		}
	})
	if !judged {
		p = refuse(apiBadLogin)
	}
	return granted, holder, p
}

// faultOf returns the fault with an envelope code.
func faultOf(format wire.Format, code apiCode) *wire.Fault {
	return &wire.Fault{Format: format, Code: string(code), Text: apiText[code]}
}

// sendFault responds with a fault.
func sendFault(w http.ResponseWriter, r *http.Request, status int, f *wire.Fault) {
	httpx.EventFrom(r.Context()).SetOutcome(f.Code)
	write(w, status, f.Format, f.Bytes())
}

// formatOf returns the format by the first character of the body, of which start was read. A body
// that is refused unread needs a response in its format too, and the content types of clients may
// be wrong. It waits briefly for the first bytes.
func formatOf(w http.ResponseWriter, r *http.Request, start []byte) wire.Format {
	if len(start) == 0 && r.Body != nil && r.Header.Get("Expect") == "" { // reading would request the body
		// If this fails, the server's own deadline holds.
		_ = http.NewResponseController(w).SetReadDeadline(clock.System().Now().Add(oversizeWait))
		start = make([]byte, 64)
		n, _ := io.ReadFull(r.Body, start) // a shorter body is enough
		start = start[:n]
	}
	format, document := wire.Sniff(start)
	if len(document) == 0 {
		return declaredFormat(r)
	}
	return format
}

func write(w http.ResponseWriter, status int, f wire.Format, body []byte) {
	w.Header().Set("Access-Control-Allow-Origin", "*") // as the preflight response promised
	w.Header().Set("Content-Type", wire.ContentType(f))
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // if the client is gone, the effect stays
}

// class returns the class of the problem.
func (p problem) class() string {
	if p.none() {
		return dialect.ClassApproved
	}
	if p.API != "" {
		return dialect.ClassRefused
	}
	switch class, _ := p.reasonMessage(); class {
	case approved, held:
		return dialect.ClassApproved
	case declined:
		return dialect.ClassDeclined
	default:
		return dialect.ClassFailed
	}
}

// String returns the problem for the log: an envelope code, or the outcome class and the reason.
func (p problem) String() string {
	if p.none() {
		return string(apiOK)
	}
	if p.API != "" {
		return string(p.API)
	}
	class, _ := p.reasonMessage()
	return string(class) + "/" + strconv.Itoa(int(p.Reason))
}
