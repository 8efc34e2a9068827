package providera

import (
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/upstream"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

// record is a transaction of the host.
type record struct {
	id, original, kind, status, invoice string
	description                         string
	authorized, taken                   string
	payment                             string
	batch                               int // 0 for none
	submitted                           time.Time
}

// host is an account of the provider. Its lists have the transactions once listed is set.
type host struct {
	url      string
	mu       sync.Mutex
	made     []*record
	next     int
	fate     func(transaction) fate
	reason   func(transaction) string // of a declined one
	delayed  []transaction            // that are late
	sent     map[string]int           // transactions by type, also lost ones
	reads    map[string]int           // reading methods
	budget   *int                     // reads until the host is busy; nil for no end
	hidden   bool                     // the lists lag behind
	broken   string                   // a method that always fails
	hook     map[string]func()        // by method: what happens before its next request
	longest  int                      // the last page that can be read; 0 for no end
	unlisted bool                     // no batch is listed
	unread   string                   // a batch whose list always fails

	latestFirst bool // the lists are never in another order
	off         bool // no Transaction Details API
	key         string
	now         time.Time
	date        func() time.Time // of the responses: by default, the clock of the latest connector
}

const hostName, hostKey = "demoLogin1", "demoKey000000001"

func startHost(t *testing.T) (*host, *Connector) {
	t.Helper()
	h := &host{
		next: 60410000100, sent: map[string]int{}, reads: map[string]int{}, key: hostKey,
		now: time.Date(2026, 3, 2, 15, 0, 0, 0, time.UTC),
	}
	server := httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(server.Close)
	h.url = server.URL
	return h, h.connect(t, clock.NewFake(h.now))
}

func (h *host) connect(t *testing.T, c clock.Clock) *Connector {
	t.Helper()
	h.do(func() { h.date = c.Now })
	return connect(t, upstream.Config{BaseURL: h.url}, Config{
		Name: hostName, TransactionKey: secret.New(hostKey), Clock: c,
	})
}

// connect returns a connector to a host.
func connect(t *testing.T, host upstream.Config, account Config) *Connector {
	t.Helper()
	client, err := upstream.New(host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	account.Upstream = client
	made, err := New(account)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// hostRequest is the part of a request that the host reads.
type hostRequest struct {
	XMLName xml.Name
	Login   struct {
		Key string `xml:"transactionKey"`
	} `xml:"merchantAuthentication"`
	RefID       string      `xml:"refId"`
	Transaction transaction `xml:"transactionRequest"`
	ID          string      `xml:"transId"`
	Batch       string      `xml:"batchId"`
	First       time.Time   `xml:"firstSettlementDate"`
	Last        time.Time   `xml:"lastSettlementDate"`
	Sorting     sorting     `xml:"sorting"`
	Paging      paging      `xml:"paging"`
}

func (h *host) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var in hostRequest
	if err != nil || xml.Unmarshal(body, &in) != nil || r.URL.Path != path || r.Method != http.MethodPost {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	w.Header().Set("Date", h.date().UTC().Format(http.TimeFormat))
	method := strings.TrimSuffix(in.XMLName.Local, "Request")
	respond := func(inside string) {
		_, _ = io.WriteString(w, wrap(method+"Response", inside))
	}
	fail := func(code string) { respond(strings.Replace(bad, "E00027", code, 1)) }
	if in.Login.Key != h.key {
		fail("E00007")
		return
	}
	if method == "createTransaction" {
		h.transact(w, r, in)
		return
	}
	if h.busy() || method == h.broken || h.unread != "" && in.Batch == h.unread {
		fail("E00053")
		return
	}
	h.count(method)
	switch {
	case method == "authenticateTest":
		respond(okay)
	case h.off:
		fail("E00011")
	case method == "getTransactionDetails":
		if found := h.find(in.ID); found != nil {
			respond(okay + found.details())
			return
		}
		fail("E00040")
	case method == "getUnsettledTransactionList":
		respond(h.page(in, func(r *record) bool { return r.batch == 0 }))
	case method == "getTransactionList":
		respond(h.page(in, func(r *record) bool { return strconv.Itoa(r.batch) == in.Batch }))
	case method == "getSettledBatchList":
		respond(h.batches(in.First, in.Last))
	default:
		fail("E00004")
	}
}

// count counts a reading method, and runs its hook.
func (h *host) count(method string) {
	h.reads[method]++
	if f := h.hook[method]; f != nil {
		delete(h.hook, method)
		f()
	}
}

func (h *host) find(id string) *record {
	for _, r := range h.made {
		if r.id == id {
			return r
		}
	}
	return nil
}

// allow makes the host busy after a number of reads.
func (h *host) allow(reads int) {
	h.do(func() { h.budget = &reads })
}

// busy counts a read, and reports whether the host allows no more.
func (h *host) busy() bool {
	if h.budget == nil {
		return false
	}
	*h.budget--
	return *h.budget < 0
}

// batches are one a day, settled at midnight.
func (h *host) batches(first, last time.Time) string {
	seen, out := map[int]bool{}, ""
	for _, r := range h.made {
		at := r.submitted.Truncate(24 * time.Hour).Add(24 * time.Hour)
		if r.batch == 0 || h.unlisted || seen[r.batch] || at.Before(first) || at.After(last) {
			continue
		}
		seen[r.batch] = true
		out = "<batch><batchId>" + strconv.Itoa(r.batch) + "</batchId><settlementTimeUTC>" + at.Format(time.RFC3339) +
			"</settlementTimeUTC></batch>" + out
	}
	if out == "" {
		return strings.Replace(okay, "I00001", "I00004", 1)
	}
	return okay + "<batchList>" + out + "</batchList>"
}

// page has rows in the order of their times, or the latest first.
func (h *host) page(in hostRequest, has func(*record) bool) string {
	var found []*record
	for _, r := range h.made {
		if has(r) && !h.hidden {
			found = append(found, r)
		}
	}
	slices.SortStableFunc(found, func(a, b *record) int { return a.submitted.Compare(b.submitted) })
	if in.Sorting.Descending || h.latestFirst {
		slices.Reverse(found)
	}
	if h.longest > 0 && in.Paging.Page > h.longest {
		return strings.Replace(bad, "E00027", codeTooFar, 1)
	}
	from := (in.Paging.Page - 1) * in.Paging.Limit
	if from >= len(found) {
		return strings.Replace(okay, "I00001", "I00004", 1)
	}
	var out strings.Builder
	for _, r := range found[from:min(len(found), from+in.Paging.Limit)] {
		out.WriteString("<transaction><transId>" + r.id + "</transId><submitTimeUTC>" + r.submitted.Format(time.RFC3339) +
			"</submitTimeUTC><transactionStatus>" + r.status + "</transactionStatus><invoiceNumber>" + r.invoice +
			"</invoiceNumber><settleAmount>" + r.taken + "</settleAmount></transaction>")
	}
	return okay + "<transactions>" + out.String() + "</transactions>"
}

func (r *record) details() string {
	original := ""
	if r.original != "" {
		original = "<refTransId>" + r.original + "</refTransId>"
	}
	return "<transaction><transId>" + r.id + "</transId>" + original + "<submitTimeUTC>" +
		r.submitted.Format("2006-01-02T15:04:05.7Z") + "</submitTimeUTC><transactionType>" + r.kind +
		"</transactionType><transactionStatus>" + r.status + "</transactionStatus><responseCode>1</responseCode>" +
		"<responseReasonCode>1</responseReasonCode><authCode>K7Q2ZD</authCode><AVSResponse>Y</AVSResponse>" +
		"<order><invoiceNumber>" + r.invoice + "</invoiceNumber></order><authAmount>" + r.authorized +
		"</authAmount><settleAmount>" + r.taken + "</settleAmount><payment>" + r.payment + "</payment>" +
		"<networkTransId>Q4D8ZK1T0V7MB2X9RJ5CYWN</networkTransId></transaction>"
}

// transact carries out a transaction with its fate.
func (h *host) transact(w http.ResponseWriter, r *http.Request, in hostRequest) {
	t := in.Transaction
	h.sent[t.Type]++
	f := passes
	if h.fate != nil {
		f = h.fate(t)
	}
	if h.unprocessed(w, f, in) {
		return
	}
	inside := h.effect(t)
	whole := wrap("createTransactionResponse", "<refId>"+in.RefID+"</refId>"+inside)
	switch f {
	case unheard:
		panic(http.ErrAbortHandler)
	case slow:
		h.mu.Unlock()
		<-r.Context().Done()
		h.mu.Lock()
	case truncated:
		whole = whole[:len(whole)/2]
	case garbled:
		whole = "<html>Bad Gateway</html>"
	case oversized:
		whole += strings.Repeat(" ", 2<<20)
	case failing:
		whole = wrap("ErrorResponse", strings.Replace(bad, "E00027", "E00001", 1))
	case relayed:
		w.WriteHeader(http.StatusInternalServerError)
	case timedOut:
		w.WriteHeader(http.StatusGatewayTimeout)
		whole = "<html>Gateway Timeout</html>"
	case empty:
		whole = wrap("createTransactionResponse", "<refId>"+in.RefID+"</refId>"+okay)
	case misnumber:
		whole = strings.Replace(whole, "<refId>", "<refId>x", 1)
	default:
	}
	_, _ = io.WriteString(w, whole)
}

// effect changes the account and returns the messages and the transaction of the response.
func (h *host) effect(t transaction) string {
	refuse := func(reason string) string {
		return bad + "<transactionResponse>" + errorOf("3", reason, "<transId>0</transId>") + "</transactionResponse>"
	}
	accept := func(r *record, reason string) string {
		id := r.id
		if reason != "1" {
			id = "0"
		}
		original := r.original
		if t.Original != "" {
			original = t.Original
		}
		return okay + "<transactionResponse>" + follow(reason, id, original) + "</transactionResponse>"
	}
	original := h.find(t.Original)
	switch {
	case t.Type == typeCapture || t.Type == typeVoid:
		switch {
		case original == nil:
			return refuse("16")
		case original.status == "voided":
			return accept(original, "310")
		case t.Type == typeVoid && original.batch != 0:
			return refuse("327")
		case t.Type == typeVoid:
			original.status = "voided"
		case original.status != "authorizedPendingCapture":
			return accept(original, "311")
		default:
			original.status, original.taken = "capturedPendingSettlement", t.Amount
		}
		return accept(original, "1")
	case t.Type == typeRefund && t.Original != "" && (original == nil || original.batch == 0):
		return refuse("54")
	case t.Type == typeRefund && t.Original != "" && h.refunded(t.Original)+units(t.Amount) > units(original.taken):
		return refuse("55")
	}
	for _, r := range h.made {
		if r.invoice == t.Order.Invoice && r.kind == t.Type {
			return refuse("11")
		}
	}
	return accept(h.add(t), "1")
}

// refunded returns the sum of the refunds of a transaction.
func (h *host) refunded(original string) (sum int64) {
	for _, r := range h.made {
		if r.kind == typeRefund && r.original == original && r.status != "voided" {
			sum += units(r.taken)
		}
	}
	return sum
}

func units(amount string) int64 {
	n, _ := minor(amount, "usd")
	return n
}

// add adds the transaction of a request with a source.
func (h *host) add(t transaction) *record {
	h.next++
	r := &record{
		id: strconv.Itoa(h.next), original: t.Original, kind: t.Type, invoice: t.Order.Invoice, authorized: t.Amount,
		description: t.Order.Description, taken: t.Amount, submitted: h.now,
		status: map[string]string{
			typeAuthorize: "authorizedPendingCapture", typeSale: "capturedPendingSettlement",
			typeForced: "capturedPendingSettlement", typeRefund: "refundPendingSettlement",
		}[t.Type],
	}
	switch {
	case t.Payment.Card != nil:
		n := t.Payment.Card.Number
		r.payment = "<creditCard><cardNumber>XXXX" + n[len(n)-4:] + "</cardNumber></creditCard>"
	case t.Payment.Bank != nil:
		b := t.Payment.Bank
		r.payment = "<bankAccount><accountType>" + b.Type + "</accountType><routingNumber>XXXX" +
			b.Routing[len(b.Routing)-4:] + "</routingNumber><accountNumber>XXXX" +
			b.Number[len(b.Number)-4:] + "</accountNumber><nameOnAccount>" + b.Holder +
			"</nameOnAccount></bankAccount>"
	}
	h.made = append(h.made, r)
	return r
}

// do runs f with the host's state.
func (h *host) do(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

// more adds transactions of others that were submitted at a time.
func (h *host) more(n int, at time.Time, r record) {
	h.do(func() {
		for range n {
			h.next++
			made := r
			made.id, made.submitted = strconv.Itoa(h.next), at
			h.made = append(h.made, &made)
		}
	})
}

// settle moves all transactions to a batch.
func (h *host) settle(batch int) {
	h.do(func() {
		for _, r := range h.made {
			switch {
			case r.batch != 0:
				continue
			case r.status == "capturedPendingSettlement":
				r.status = "settledSuccessfully"
			case r.status == "refundPendingSettlement":
				r.status = "refundSettledSuccessfully"
			case r.status != "voided":
				continue
			}
			r.batch = batch
		}
	})
}

// totals counts the transactions that were sent.
func (h *host) totals() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprint(h.sent)
}

// paid makes a payment and returns it as an earlier request.
func paid(t *testing.T, c *Connector, capture bool) acquirer.Sent {
	t.Helper()
	r := pay(visa(), func(r *acquirer.Authorize) { r.Capture = capture })
	a, err := c.Authorize(t.Context(), r)
	if err != nil || !a.Approved {
		t.Fatalf("payment: %+v, %v", a, err)
	}
	about := acquirer.Sent{
		Kind: acquirer.Authorization, Reference: r.Reference, Tag: tagOf(c.clock.Now()), ID: a.ID,
		Amount: r.Amount, Currency: r.Currency,
	}
	if capture {
		about.Kind = acquirer.Sale
	}
	return about
}

// before runs f before the next request of a reading method, once.
func (h *host) before(method string, f func()) {
	h.do(func() { h.hook = map[string]func(){method: f} })
}
