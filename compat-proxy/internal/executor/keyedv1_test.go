package executor_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// keyedV1 stores Idempotency-Keys as v1 does, and counts the executed requests.
type keyedV1 struct {
	clock         *clock.Fake
	setBack       time.Duration // the clock of new payments is behind Date and the times of keys
	response      int           // status of a new payment; 201 by default
	lostRequests  int           // this many requests are lost before they are read
	refuse        int           // this many requests are refused, without a record
	lostResponses int           // this many responses are lost after their effect
	atIt          int           // this many retries get the error that the first request is still running
	blind         bool          // the caller may not read keys
	down          bool          // API keys are not identified
	// meanwhile runs once while v1 has the next request, before it is refused, or while its key is
	// claimed. claimed is the error with which the key is then freed, "" if it is not claimed.
	meanwhile func()
	claimed   string

	mu      sync.Mutex
	uses    map[string]*keyUse // guarded by mu
	effects []time.Time        // guarded by mu
	looks   int                // guarded by mu
	reads   int                // guarded by mu
	keys    []string           // guarded by mu
}

type keyUse struct {
	body      string
	response  string
	id        string
	purpose   string
	status    int
	made      time.Time
	running   bool
	contested bool // another request was sent with the key while it was running
}

// recovered ends the running request of a key, which had no effect. A contested key is refused from
// then on, and any other one is free. The caller holds mu.
func (f *keyedV1) recovered(key string) {
	u := f.uses[key]
	if u == nil || !u.contested {
		delete(f.uses, key)
		return
	}
	u.running, u.status, u.response = false, http.StatusUnprocessableEntity, refusal(v1.CodeKeyReused)
}

// hear makes the server respond again.
func (f *keyedV1) hear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lostRequests = 0
}

func (f *keyedV1) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Date", f.clock.Now().UTC().Format(http.TimeFormat))
	if r.URL.Path == "/v1/api_keys/current" {
		f.identify(w, r)
		return
	}
	if key, one := strings.CutPrefix(r.URL.Path, "/v1/idempotency_keys/"); one {
		f.lookUp(w, key)
		return
	}
	if n, one := strings.CutPrefix(r.URL.Path, "/v1/captures/"); one {
		_, _ = fmt.Fprintf(w, `{"id":%q,"transaction":%q,"status":"succeeded","amount":100,"currency":"usd"}`, n, txnID)
		return
	}
	if n, one := strings.CutPrefix(r.URL.Path, "/v1/refunds/"); one {
		_, _ = fmt.Fprintf(w, `{"id":%q,"status":"succeeded","amount":100,"currency":"usd"}`, n)
		return
	}
	if n, one := strings.CutPrefix(r.URL.Path, "/v1/transactions/"); one && r.Method == http.MethodGet {
		f.reads++
		_, _ = fmt.Fprintf(w, `{"id":%q,"status":"captured","currency":"usd","card":{"last4":"4242","brand":"visa"}}`, n)
		return
	}
	body, _ := io.ReadAll(r.Body)
	if f.lostRequests > 0 {
		f.lostRequests--
		panic(http.ErrAbortHandler)
	}
	if f.claimed == "" && f.meets() {
		f.refuse++
	}
	if f.refuse > 0 {
		f.refuse--
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, refusal("invalid_field"))
		return
	}
	key := r.Header.Get("Idempotency-Key")
	if merchant := strings.Split(r.Header.Get("Authorization"), "_")[2]; merchant != "key" {
		key = merchant + ":" + key // each merchant has separate keys
	}
	f.keys = append(f.keys, key)
	u, used := f.uses[key]
	switch {
	case used && u.body != string(body):
		u.contested = true
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, refusal(v1.CodeKeyReused))
		return
	case used && (u.running || f.atIt > 0):
		f.atIt--
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, refusal(v1.CodeKeyInUse))
		return
	case used:
		w.Header().Set("Idempotent-Replayed", "true")
	case f.meanwhile != nil:
		f.uses[key] = &keyUse{body: string(body), made: f.clock.Now(), running: true}
		f.meets()
		delete(f.uses, key)
		status := http.StatusServiceUnavailable
		if f.claimed == v1.CodeNotProcessed {
			status = http.StatusBadGateway
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, refusal(f.claimed))
		return
	default:
		u = f.pay(r.URL.Path, string(body))
		f.uses[key] = u
	}
	if f.lostResponses > 0 {
		f.lostResponses--
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(u.status)
	_, _ = io.WriteString(w, u.response)
}

// meets runs meanwhile, and reports whether there was one. The caller holds mu, but not meanwhile.
func (f *keyedV1) meets() bool {
	run := f.meanwhile
	if run == nil {
		return false
	}
	f.meanwhile = nil
	f.mu.Unlock()
	defer f.mu.Lock()
	run()
	return true
}

// identify returns the merchant and mode of an API key by its parts: sk_MODE_MERCHANT_REST.
func (f *keyedV1) identify(w http.ResponseWriter, r *http.Request) {
	if f.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	parts := strings.Split(r.Header.Get("Authorization"), "_")
	_, _ = fmt.Fprintf(w, `{"merchant":"mer_%s","mode":%q,"scopes":[]}`, parts[2], parts[1])
}

// pay executes a request, by its path. The caller holds mu.
func (f *keyedV1) pay(path, body string) *keyUse {
	now := f.clock.Now()
	if path == "/v1/idempotency_keys" {
		var in v1.IdempotencyKeyReserve
		mustRead([]byte(body), &in)
		return &keyUse{body: body, status: http.StatusCreated, response: "{}", purpose: in.Purpose, made: now}
	}
	f.effects = append(f.effects, now)
	var sent struct {
		Amount      int64   `json:"amount"`
		Currency    string  `json:"currency"`
		Transaction string  `json:"transaction"`
		Reference   *string `json:"reference"`
	}
	mustRead([]byte(body), &sent)
	txn := id.Format(id.Transaction, int64(len(f.effects)))
	fields := fmt.Sprintf(`"status":"captured","amount":%d,"currency":%q,"created_at":%q`, sent.Amount,
		cmp.Or(sent.Currency, "usd"),
		now.Add(-f.setBack).UTC().Format("2006-01-02T15:04:05.000Z"))
	if sent.Reference != nil {
		fields += fmt.Sprintf(`,"reference":%q`, *sent.Reference)
	}
	made := fmt.Sprintf(`{"id":%q,%s}`, txn, fields)
	if payment, ok := strings.CutSuffix(path, "/captures"); ok {
		txn = id.Format(id.Capture, int64(len(f.effects)))
		made = fmt.Sprintf(`{"id":%q,"transaction":%q,%s}`, txn, payment[strings.LastIndexByte(payment, '/')+1:],
			strings.Replace(fields, "captured", "succeeded", 1))
	}
	if path == "/v1/refunds" {
		txn = id.Format(id.Refund, int64(len(f.effects)))
		made = fmt.Sprintf(`{"id":%q,"transaction":%q,%s}`, txn, sent.Transaction,
			strings.Replace(fields, "captured", "pending", 1))
	}
	u := &keyUse{body: body, status: f.response, response: made, id: txn, made: now}
	switch {
	case f.response == http.StatusBadRequest:
		u.response = refusal("invalid_amount")
	case f.response == http.StatusPaymentRequired && path == "/v1/refunds":
		u.response = refusal("acquirer_declined")
		if sent.Transaction != "" {
			u.response = refusalWith("acquirer_declined",
				fmt.Sprintf(`{"id":%q,"created_at":"2026-11-01T00:00:00Z"}`, sent.Transaction))
		}
	case f.response == http.StatusPaymentRequired:
		u.response = refusalWith("card_declined", strings.Replace(made, "captured", "declined", 1))
	}
	return u
}

// lookUp sends the record of a key. The caller holds mu.
func (f *keyedV1) lookUp(w http.ResponseWriter, key string) {
	f.looks++
	u, used := f.uses[key]
	switch {
	case f.blind:
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, refusal("insufficient_scope"))
	case !used:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, refusal("not_found"))
	default:
		status := fmt.Sprintf(`,"http_status":%d`, u.status)
		if u.running {
			status = ""
		}
		if u.purpose != "" {
			status += fmt.Sprintf(`,"purpose":%q`, u.purpose)
		}
		_, _ = fmt.Fprintf(w, `{"object":"idempotency_key","key":%q,"status":"x","created_at":%q,"expires_at":%q,`+
			`"resource":%q%s}`,
			key, u.made.UTC().Format("2006-01-02T15:04:05.000Z"), u.made.UTC().Format("2006-01-02T15:04:05.000Z"), u.id, status)
	}
}

func (f *keyedV1) paid() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.effects)
}
