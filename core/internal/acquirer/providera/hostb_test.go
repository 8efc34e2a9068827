package providera

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/acquirer/acquirertest"
	"github.com/causeway-pay/causeway/core/internal/acquirer/providerb"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// recordB is an operation of provider-b's account.
type recordB struct {
	id, group     string // group is payments, captures or refunds
	code          string // the merchant's name of a payment
	transactionID string
	amount        int64
	of            *recordB // nil for a payment
	sale          bool
	voided        bool // the capture, sale or refund
	released      bool // the authorization of a payment
}

// hostB is an account at provider-b. It accepts a request that repeats a transactionId, so that a
// second effect is in its records.
type hostB struct {
	url     string
	mu      sync.Mutex
	made    []*recordB
	next    int
	fate    func(*postB) fate
	decline func(*postB) declineB
	delayed []*postB // that are late
}

// declineB is a decline by provider-b. One with the status 400 was not processed.
type declineB struct {
	status       int
	reason       string
	code, advice string // of the network
}

// postB is a request that can move money.
type postB struct {
	path      string
	Reference struct {
		Code          string `json:"code"`
		TransactionID string `json:"transactionId"`
	} `json:"clientReferenceInformation"`
	Processing struct {
		Capture bool `json:"capture"`
	} `json:"processingInformation"`
	Order struct {
		Amounts struct {
			Total string `json:"totalAmount"`
		} `json:"amountDetails"`
	} `json:"orderInformation"`
}

// pays reports whether the request is a payment.
func (p *postB) pays() bool { return p.path == "/pts/v2/payments" }

func startHostB(t *testing.T) *hostB {
	t.Helper()
	h := &hostB{next: 7_000_000}
	server := httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

// connectB returns a connector to provider-b at a URL.
func connectB(t *testing.T, url string, c clock.Clock) *providerb.Connector {
	t.Helper()
	client, err := upstream.New(upstream.Config{BaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	made, err := providerb.New(providerb.Config{
		MerchantID: "shop", KeyID: "key", SharedSecret: secret.New("c2VjcmV0"), Upstream: client, Clock: c,
		Missing: acquirertest.NewMissing(c),
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (h *hostB) serve(w http.ResponseWriter, r *http.Request) {
	p := &postB{path: r.URL.Path}
	text, err := io.ReadAll(r.Body)
	if err == nil && r.Method == http.MethodPost {
		err = json.Unmarshal(text, p)
	}
	if err != nil {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Method == http.MethodGet {
		h.show(w, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:])
		return
	}
	f := h.fate(p)
	if h.unprocessed(w, f, p) {
		return
	}
	status, body := h.effect(p)
	h.respond(w, r, f, status, body)
}

// unprocessed responds to a request whose fate has no effect at present.
func (h *hostB) unprocessed(w http.ResponseWriter, f fate, p *postB) bool {
	switch f {
	case late:
		h.delayed = append(h.delayed, p)
		panic(http.ErrAbortHandler)
	case lost:
		panic(http.ErrAbortHandler)
	case gateway:
		write(w, http.StatusBadGateway, "<html>Bad Gateway</html>")
	case busy:
		write(w, http.StatusServiceUnavailable, "<html>Service Unavailable</html>")
	case faulty:
		write(w, http.StatusBadGateway, `{"status":"SERVER_ERROR","reason":"SERVICE_TIMEOUT"}`)
	case barred:
		write(w, http.StatusUnauthorized, `{"response":{"rmsg":"Authentication Failed"}}`)
	case denied:
		h.next++
		d := h.decline(p)
		write(w, d.status, d.body(strconv.Itoa(h.next), p))
	default:
		return false
	}
	return true
}

func (d declineB) body(id string, p *postB) string {
	if d.status == http.StatusBadRequest {
		return `{"id":"` + id + `","status":"INVALID_REQUEST","reason":"` + d.reason + `"}`
	}
	return fmt.Sprintf(`{"id":%q,"status":"DECLINED","errorInformation":{"reason":%q},%s,"processorInformation":`+
		`{"responseCode":%q,"merchantAdvice":{"code":%q}}}`, id, d.reason, p.reference(), d.code, d.advice)
}

func (p *postB) reference() string {
	return fmt.Sprintf(`"clientReferenceInformation":{"code":%q,"transactionId":%q}`,
		p.Reference.Code, p.Reference.TransactionID)
}

// respond writes the response to a request that had its effect.
func (h *hostB) respond(w http.ResponseWriter, r *http.Request, f fate, status int, body string) {
	switch f {
	case unheard:
		panic(http.ErrAbortHandler)
	case slow:
		h.mu.Unlock()
		<-r.Context().Done()
		h.mu.Lock()
	case truncated: // the connection breaks in the middle of the body
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		write(w, status, body[:len(body)/2])
		panic(http.ErrAbortHandler)
	case garbled:
		status, body = http.StatusCreated, "<html>Bad Gateway</html>"
	case oversized:
		body += strings.Repeat(" ", 1<<20)
	case failing:
		status, body = http.StatusBadGateway, `{"status":"SERVER_ERROR","reason":"SYSTEM_ERROR"}`
	case relayed:
		status = http.StatusInternalServerError
	case timedOut:
		status, body = http.StatusGatewayTimeout, "<html>Gateway Timeout</html>"
	case empty:
		body = "{}"
	case misnumber:
		body = strings.Replace(body, `"transactionId":"`, `"transactionId":"x`, 1)
	default:
	}
	write(w, status, body)
}

func write(w http.ResponseWriter, status int, body string) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// arrive makes the late requests arrive.
func (h *hostB) arrive() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.delayed {
		h.effect(p)
	}
	h.delayed = nil
}

const errNoMatchB = `{"status":"INVALID_REQUEST","reason":"INVALID_DATA"}`

// effect changes the account and returns the response.
func (h *hostB) effect(p *postB) (status int, body string) {
	parts := strings.Split(strings.TrimPrefix(p.path, "/pts/v2/"), "/")
	switch {
	case p.pays():
		r := h.add(p, "payments", nil)
		r.sale = p.Processing.Capture
		return http.StatusCreated, fmt.Sprintf(`{"id":%q,"status":"AUTHORIZED",%s,"orderInformation":{"amountDetails":`+
			`{"authorizedAmount":%q,"currency":"USD"}},"processorInformation":{"approvalCode":"831000","responseCode":"00"}}`,
			r.id, p.reference(), p.Order.Amounts.Total)
	case len(parts) == 1: // by its transactionId
		return h.end(h.find(func(r *recordB) bool {
			return r.transactionID == p.Reference.TransactionID && (r.group == "payments" || parts[0] == "voids")
		}), parts[0])
	}
	r := h.find(func(r *recordB) bool { return r.id == parts[1] && r.group == parts[0] })
	switch {
	case r == nil:
		return http.StatusBadRequest, errNoMatchB
	case parts[2] == "reversals" || parts[2] == "voids":
		return h.end(r, parts[2])
	}
	form := `"orderInformation":{"amountDetails":{"totalAmount":%q,"currency":"USD"}}`
	if parts[2] == "refunds" {
		form = `"refundAmountDetails":{"refundAmount":%q,"currency":"USD"}`
	}
	return http.StatusCreated, fmt.Sprintf(`{"id":%q,"status":"PENDING",%s,`+form+`}`,
		h.add(p, parts[2], r).id, p.reference(), p.Order.Amounts.Total)
}

// end reverses or voids an operation.
func (h *hostB) end(r *recordB, by string) (status int, body string) {
	refuse := func(reason string) (int, string) {
		return http.StatusBadRequest, `{"status":"INVALID_REQUEST","reason":"` + reason + `"}`
	}
	switch {
	case r == nil:
		return http.StatusBadRequest, errNoMatchB
	case by == "reversals" && r.released:
		return refuse("AUTH_ALREADY_REVERSED")
	case by == "reversals" && (r.sale && !r.voided || h.moved(r, "captures") > 0):
		return refuse("TRANSACTION_ALREADY_REVERSED_OR_SETTLED")
	case by == "reversals":
		r.released = true
		return http.StatusCreated, fmt.Sprintf(`{"id":"%s9","status":"REVERSED"}`, r.id)
	case r.group == "payments" && !r.sale:
		return refuse("NOT_VOIDABLE")
	case r.voided:
		return refuse("CAPTURE_ALREADY_VOIDED")
	}
	r.voided = true
	return http.StatusCreated, fmt.Sprintf(`{"id":"%s8","status":"VOIDED"}`, r.id)
}

func (h *hostB) add(p *postB, group string, of *recordB) *recordB {
	h.next++
	r := &recordB{
		id: strconv.Itoa(h.next), group: group, code: p.Reference.Code, transactionID: p.Reference.TransactionID,
		amount: units(p.Order.Amounts.Total), of: of,
	}
	h.made = append(h.made, r)
	return r
}

// find returns the last operation that fits, nil if none does.
func (h *hostB) find(fits func(*recordB) bool) *recordB {
	for i := len(h.made) - 1; i >= 0; i-- {
		if fits(h.made[i]) {
			return h.made[i]
		}
	}
	return nil
}

// moved returns the sum of the captures or refunds of an operation that stand.
func (h *hostB) moved(of *recordB, group string) (sum int64) {
	for _, r := range h.made {
		if r.of == of && r.group == group && !r.voided {
			sum += r.amount
		}
	}
	return sum
}

// show responds with the details of an operation.
func (h *hostB) show(w http.ResponseWriter, id string) {
	r := h.find(func(r *recordB) bool { return r.id == id })
	if r == nil {
		write(w, http.StatusNotFound, `{"message":"not found"}`)
		return
	}
	status, left := "PENDING", r.amount
	switch {
	case r.released:
		status = "REVERSED"
	case r.voided:
		status = "VOIDED"
	case r.group == "payments":
		status = "AUTHORIZED"
	}
	left -= h.moved(r, "refunds")
	write(w, http.StatusOK, fmt.Sprintf(`{"id":%q,"applicationInformation":{"status":%q},"orderInformation":`+
		`{"amountDetails":{"authorizedAmount":%q,"totalAmount":%q,"refundBalance":%q,"currency":"USD"}}}`,
		id, status, dollars(r.amount), dollars(r.amount), dollars(left)))
}

func dollars(n int64) string { return fmt.Sprintf("%d.%02d", n/100, n%100) }
