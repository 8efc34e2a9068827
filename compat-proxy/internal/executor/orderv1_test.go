package executor_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// orderV1 is v1 with one order of 1000, whose first payment was approved for 300.
type orderV1 struct {
	clock         *clock.Fake
	meeting       *sync.WaitGroup // the first list requests wait here for each other
	rival         bool            // the first post is lost, and an equal one takes its position meanwhile
	lostResponses int             // this many responses are lost after their effect
	emptyLists    bool            // lists are empty, and every key belongs to another request
	setBack       time.Duration   // the clock of new payments is behind Date and the times of keys

	mu           sync.Mutex
	payments     []orderPayment    // guarded by mu
	reserved     map[string]string // the purposes of reserved keys; guarded by mu
	refused      []orderPayment    // the keys and bodies of payments by an expired card; guarded by mu
	posts        int               // guarded by mu
	lostRequests int               // this many posts are lost before they are read; guarded by mu
}

type orderPayment struct {
	v1.Transaction

	key, body string
}

func (f *orderV1) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", f.clock.Now().UTC().Format(http.TimeFormat))
	if r.Method == http.MethodGet && r.URL.Path == "/v1/transactions" {
		f.list(w)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if key, look := strings.CutPrefix(r.URL.Path, "/v1/idempotency_keys/"); look {
		status, response := f.lookUp(key)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, response)
		return
	}
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, transaction("captured", partial))
		return
	}
	body, _ := io.ReadAll(r.Body)
	if r.URL.Path == "/v1/idempotency_keys" {
		f.reserve(w, r.Header.Get("Idempotency-Key"), body)
		return
	}
	f.posts++
	if f.lostRequests > 0 {
		f.lostRequests--
		panic(http.ErrAbortHandler)
	}
	if f.rival {
		f.rival = false
		var like struct {
			Metadata v1.Metadata `json:"metadata"`
		}
		_ = json.Unmarshal(body, &like)
		other := string(body)
		if nonce := like.Metadata["nonce"]; nonce != "" {
			other = strings.ReplaceAll(other, nonce, "another")
		}
		_, _ = f.pay(r.Header.Get("Idempotency-Key"), other)
		panic(http.ErrAbortHandler)
	}
	status, response := f.pay(r.Header.Get("Idempotency-Key"), string(body))
	if status == http.StatusOK { // a replay
		status = http.StatusCreated
		w.Header().Set("Idempotent-Replayed", "true")
	}
	if f.lostResponses > 0 {
		f.lostResponses--
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, response)
}

// lose loses the next n posts before they are read.
func (f *orderV1) lose(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lostRequests = n
}

// purpose returns the purpose of the only reserved key.
func (f *orderV1) purpose() (purpose string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, purpose = range f.reserved {
		return purpose
	}
	return ""
}

// reserve reserves a key. The caller holds mu.
func (f *orderV1) reserve(w http.ResponseWriter, key string, body []byte) {
	var in v1.IdempotencyKeyReserve
	mustRead(body, &in)
	purpose, used := f.reserved[key]
	paid := slices.ContainsFunc(f.payments, func(p orderPayment) bool { return p.key == key })
	if paid || used && purpose != in.Purpose {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, refusal(v1.CodeKeyReused))
		return
	}
	f.reserved[key] = in.Purpose
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, "{}")
}

// list returns all payments but the first, the newest first.
func (f *orderV1) list(w http.ResponseWriter) {
	f.mu.Lock()
	meeting := f.meeting
	var found []string
	for _, p := range f.payments {
		text, _ := json.Marshal(p.Transaction)
		found = append([]string{string(text)}, found...)
	}
	emptyLists := f.emptyLists
	f.mu.Unlock()
	if meeting != nil {
		meeting.Done()
		meeting.Wait()
		f.mu.Lock()
		f.meeting = nil
		f.mu.Unlock()
	}
	if emptyLists {
		found = nil
	}
	_, _ = fmt.Fprintf(w, `{"object":"list","has_more":false,"data":[%s]}`, strings.Join(found, ","))
}

// lookUp returns the record of an Idempotency-Key. The caller holds mu.
func (f *orderV1) lookUp(key string) (status int, response string) {
	named := func(p orderPayment) bool { return p.key == key }
	record := v1.IdempotencyKeyRecord{Key: key, HTTPStatus: new(http.StatusBadRequest)}
	if purpose, used := f.reserved[key]; used {
		record.HTTPStatus, record.Purpose = new(http.StatusCreated), &purpose
	} else if i := slices.IndexFunc(f.payments, named); i >= 0 {
		record.HTTPStatus, record.Resource = new(http.StatusCreated), &f.payments[i].ID
		record.CreatedAt = v1.Time{Time: f.payments[i].CreatedAt.Add(f.setBack)}
		if f.payments[i].Status == v1.TransactionStatusProcessing {
			record.HTTPStatus = nil
		}
	} else if !slices.ContainsFunc(f.refused, named) {
		return http.StatusNotFound, refusal("not_found")
	}
	return http.StatusOK, mustJSON(record)
}

// expiredCard is refused, and its refusal is stored under the key.
const expiredCard = "4000000000000069"

// pay makes a payment of the order under a key. The caller holds mu.
func (f *orderV1) pay(key, body string) (status int, response string) {
	if _, used := f.reserved[key]; used {
		return http.StatusUnprocessableEntity, refusal(v1.CodeKeyReused)
	}
	for _, p := range f.refused {
		if p.key == key && p.body != body {
			return http.StatusUnprocessableEntity, refusal(v1.CodeKeyReused)
		}
	}
	if strings.Contains(body, expiredCard) {
		f.refused = append(f.refused, orderPayment{key: key, body: body})
		return http.StatusBadRequest, refusal(v1.CodeExpiredCard)
	}
	for _, p := range f.payments {
		if p.key == key && p.body == body {
			text, _ := json.Marshal(p.Transaction)
			return http.StatusOK, string(text)
		}
		if p.key == key || f.emptyLists {
			return http.StatusUnprocessableEntity, refusal(v1.CodeKeyReused)
		}
	}
	var sent struct {
		Amount   int64       `json:"amount"`
		Metadata v1.Metadata `json:"metadata"`
	}
	if json.Unmarshal([]byte(body), &sent) != nil {
		return http.StatusBadRequest, refusal("invalid_field")
	}
	made := f.add(key, body, sent.Amount, v1.TransactionStatusCaptured, sent.Metadata)
	text, _ := json.Marshal(made.Transaction)
	return http.StatusCreated, string(text)
}

// add adds a further payment. The caller holds mu, or is alone.
func (f *orderV1) add(key, body string, amount int64, status v1.TransactionStatus, m v1.Metadata) *orderPayment {
	p := orderPayment{key: key, body: body, Transaction: v1.Transaction{
		ID: id.Format(id.Transaction, int64(60410000200+len(f.payments))), Status: status, Amount: amount, Currency: "usd",
		Metadata: m, CreatedAt: v1.Time{Time: f.clock.Now().Add(-f.setBack)},
	}}
	if status == v1.TransactionStatusCaptured {
		p.AmountAuthorized = amount
	}
	f.payments = append(f.payments, p)
	return &f.payments[len(f.payments)-1]
}

func (f *orderV1) taken() (payments int, amount int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.payments {
		amount += f.payments[i].AmountAuthorized
	}
	return len(f.payments), amount
}

func setupOrder(tb testing.TB) (*orderV1, *executor.Executor) {
	tb.Helper()
	f := &orderV1{clock: clock.NewFake(noon), reserved: map[string]string{}}
	server := goldentest.Serve(tb, goldentest.Identified(f))
	x, err := executor.New(executor.Config{
		V1: v1client.Config{
			URL: server.URL, Transport: server.Client().Transport, Backoff: time.Microsecond,
			Clock: clock.NewFake(noon.Add(time.Hour)), // wrong on purpose
		},
		DeduplicationSecret: goldentest.Secret(), FollowPause: time.Microsecond,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return f, x
}
