package executor_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/executor"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/v1client"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// delayedV1 delays the first payment request until deliver. Meanwhile another request has its key.
type delayedV1 struct {
	http.Handler

	claim func(key string) // gives the key to the other request
	first atomic.Pointer[http.Request]
	body  []byte // of the first request
}

func (d *delayedV1) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && r.URL.Path == "/v1/transactions" && d.first.Load() == nil {
		d.body, _ = io.ReadAll(r.Body)
		d.claim(r.Header.Get("Idempotency-Key"))
		d.first.Store(r)
		panic(http.ErrAbortHandler)
	}
	d.Handler.ServeHTTP(w, r)
}

// deliver lets v1 have the first request.
func (d *delayedV1) deliver(t *testing.T) {
	t.Helper()
	late := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/transactions", bytes.NewReader(d.body))
	late.Header = d.first.Load().Header
	d.Handler.ServeHTTP(httptest.NewRecorder(), late)
}

func (d *delayedV1) proxy(t *testing.T) *executor.Executor {
	t.Helper()
	server := goldentest.Serve(t, d)
	x, err := executor.New(executor.Config{
		V1: v1client.Config{
			URL: server.URL, Transport: server.Client().Transport, Backoff: time.Microsecond,
		},
		DeduplicationSecret: goldentest.Secret(), FollowPause: time.Microsecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestDelayedAttempt: an attempt has no response, and then v1 refuses the key, because another
// request with it runs. V1 frees the key, and the delayed attempt pays. So the command must not pay
// under another key.
func TestDelayedAttempt(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		command command.Command
		blind   bool // the caller may not read keys
	}{
		"without a window":            {command: sale(0)},
		"without a window, blind":     {command: sale(0), blind: true},
		"with a window":               {command: sale(120)},
		"with a window, blind":        {command: sale(120), blind: true},
		"named":                       {command: command.Named{Command: charge, Name: "n"}},
		"named, blind":                {command: command.Named{Command: charge, Name: "n"}, blind: true},
		"named, and a refusal counts": {command: command.Named{Command: charge, Name: "n", Final: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupWindow(t, noon)
			key := ""
			d := &delayedV1{Handler: b.v1, claim: func(k string) {
				b.v1.mu.Lock()
				defer b.v1.mu.Unlock()
				b.v1.blind = tt.blind
				key, b.v1.uses[k] = k, &keyUse{body: "another", made: noon, running: true}
			}}
			if r := run(t, d.proxy(t), tt.command); r.Outcome != command.Uncertain {
				t.Errorf("got %s %s, want %s", r.Outcome, r.Code, command.Uncertain)
			}
			delete(b.v1.uses, key)
			d.deliver(t)
			if got := b.v1.paid(); got != 1 {
				t.Errorf("got %d payments, want the delayed one", got)
			}
		})
	}
}

// TestDelayedAttempt_keyNotFreed: the other request had an effect, so v1 never frees its key, and
// the delayed attempt never pays. The command pays under the next key.
func TestDelayedAttempt_keyNotFreed(t *testing.T) {
	t.Parallel()
	b := setupWindow(t, noon)
	d := &delayedV1{Handler: b.v1, claim: func(k string) {
		b.v1.mu.Lock()
		defer b.v1.mu.Unlock()
		b.v1.uses[k] = &keyUse{body: "another", made: noon, status: http.StatusCreated, id: "txn_1"}
	}}
	if r := run(t, d.proxy(t), sale(0)); r.Outcome != command.Done {
		t.Errorf("got %s %s, want %s", r.Outcome, r.Code, command.Done)
	}
	d.deliver(t)
	if got := b.v1.paid(); got != 1 {
		t.Errorf("got %d payments, want one", got)
	}
}

// TestDelayedAttempt_furtherPayment: the attempt is a further payment of an order. Its position
// belongs to another payment, which then fails.
func TestDelayedAttempt_furtherPayment(t *testing.T) {
	t.Parallel()
	for _, window := range []int{0, 120} {
		f, _ := setupOrder(t)
		d := &delayedV1{Handler: goldentest.Identified(f), claim: func(k string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.add(k, "", 350, v1.TransactionStatusProcessing, v1.Metadata{command.GroupKey: string(number)})
		}}
		if r := run(t, d.proxy(t), further(350, window, visa)); r.Outcome != command.Uncertain {
			t.Errorf("window %d: got %s %s, want %s", window, r.Outcome, r.Code, command.Uncertain)
		}
		f.payments[0].Status, f.payments[0].key = v1.TransactionStatusFailed, ""
		d.deliver(t)
		if _, amount := f.taken(); amount != 350 {
			t.Errorf("window %d: took %d, want 350", window, amount)
		}
	}
}
