//go:build unix

package kill_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/test/crash"
	"github.com/causeway-pay/causeway/deploy/test/fleet"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/programtest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// legacyClients is the number of clients of each legacy dialect.
const legacyClients = 4

// legacy is a merchant whose clients use only the legacy dialects, through any proxy. They repeat a
// request whose response was lost, as merchants' own code does.
type legacy struct {
	f                      *fleet.Fleet
	http                   *http.Client
	next                   atomic.Uint64
	judged, requests, lost atomic.Int64 // judged payments, requests, and lost responses

	mu   sync.Mutex
	want map[string]func(v1.Transaction) bool // by reference; guarded by mu
	bad  []string                             // guarded by mu
	mark string                               // newest payment already judged
}

func newLegacy(t *testing.T, f *fleet.Fleet) *legacy {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	return &legacy{
		f: f, http: &http.Client{Transport: transport, Timeout: 2 * programtest.Patience},
		want: map[string]func(v1.Transaction) bool{},
	}
}

// payment is a sequence of steps on one payment, which its reference identifies.
type payment struct {
	l         *legacy
	reference string
	number    string // in the legacy dialect
	wanted    func(v1.Transaction) bool
}

// run lets clients pay until over is closed.
func (l *legacy) run(ctx context.Context, round int, over <-chan struct{}) {
	var clients sync.WaitGroup
	for c := range legacyClients {
		for client, kinds := range [][]func(*payment, context.Context) error{kindsA, kindsB} {
			clients.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-over:
						return
					default:
					}
					p := &payment{l: l, reference: fmt.Sprintf("%d-%d-%d-%d", round, client, c, n)}
					l.note(p, kinds[(n+c)%len(kinds)](p, ctx))
				}
			})
		}
	}
	clients.Wait()
}

func (l *legacy) note(p *payment, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.want[p.reference] = p.wanted
	if err != nil {
		l.bad = append(l.bad, p.reference+": "+err.Error())
	}
}

// send sends a request to the next instance that accepts connections. The error reports an
// incomplete response.
func (l *legacy) send(ctx context.Context, g *fleet.Group,
	r func(base string) (*http.Request, error),
) (status int, body string, err error) {
	l.requests.Add(1)
	bases := g.URLs()
	for range 2000 {
		request, err := r(bases[l.next.Add(1)%uint64(len(bases))])
		if err != nil {
			return 0, "", err
		}
		got, err := l.http.Do(request.WithContext(ctx))
		if refused(err) {
			<-time.After(5 * time.Millisecond) // the instance restarts
			continue
		}
		if err != nil {
			l.lost.Add(1)
			return 0, "", err
		}
		text, err := io.ReadAll(got.Body)
		_ = got.Body.Close() // read to its end
		if err != nil {
			l.lost.Add(1)
		}
		return got.StatusCode, string(text), err
	}
	return 0, "", fmt.Errorf("none of %v came back", bases)
}

// v1 repeats a v1 request at any core until it gets a final response.
func (l *legacy) v1(ctx context.Context, method, path string) (status int, body string, err error) {
	for tries := 0; tries < 2000 && ctx.Err() == nil; tries++ {
		status, body, err = l.send(ctx, l.f.Cores, func(base string) (*http.Request, error) {
			r, err := http.NewRequest(method, base+path, http.NoBody) //nolint:noctx // send gives it one
			if err == nil {
				r.Header.Set("Authorization", "Bearer "+l.f.Secret)
			}
			return r, err
		})
		if err == nil && status < 500 && status != http.StatusConflict {
			return status, body, nil
		}
		<-time.After(20 * time.Millisecond) // another request holds the object
	}
	return status, body, err
}

// settle settles the payment.
func (p *payment) settle(ctx context.Context) error {
	name, err := id.Decimal(id.Transaction, p.number)
	if err != nil {
		return err
	}
	status, body, err := p.l.v1(ctx, http.MethodPost, "/v1/test_helpers/transactions/"+name+"/settle")
	// an attempt with a lost response settled it
	if err == nil && status != http.StatusOK && !strings.Contains(body, "transaction_not_") {
		err = fmt.Errorf("settle: %d %s", status, body)
	}
	return err
}

// judge compares the payments in v1 since the last call with the expected ones.
func (l *legacy) judge(t *testing.T) {
	t.Helper()
	made, mark := map[string][]v1.Transaction{}, l.mark
	for cursor, more := "", true; more; {
		status, body, err := l.v1(t.Context(), http.MethodGet, "/v1/transactions?limit=100"+cursor)
		var page v1.TransactionList
		if err != nil || status != http.StatusOK || json.Unmarshal([]byte(body), &page) != nil {
			t.Fatalf("list: %d %s %v", status, body, err)
		}
		more = page.HasMore
		for _, x := range page.Data {
			if more = more && x.ID > l.mark; x.ID > l.mark {
				made[*x.Reference] = append(made[*x.Reference], x)
				mark = max(mark, x.ID)
				cursor = "&starting_after=" + x.ID
			}
		}
	}
	l.mark = mark
	l.mu.Lock()
	defer l.mu.Unlock()
	for reference, want := range l.want {
		// A failed payment moved no money; the retry of such a sale made a new one.
		live := slices.DeleteFunc(made[reference], func(x v1.Transaction) bool {
			return x.Status == v1.TransactionStatusFailed
		})
		if len(live) != 1 || want == nil || !want(live[0]) {
			l.bad = append(l.bad, fmt.Sprintf("%s: payments = %+v, want one, done once", reference, live))
		}
		delete(made, reference)
	}
	for reference, x := range made {
		l.bad = append(l.bad, fmt.Sprintf("%s: no client requested %+v", reference, x))
	}
	l.judged.Add(int64(len(l.want)))
	for _, b := range l.bad[:min(len(l.bad), 20)] {
		t.Error(b)
	}
	clear(l.want)
	l.bad = nil
}

// agree compares the acquirer's records with v1.
func (l *legacy) agree(t *testing.T, location crash.Location) {
	t.Helper()
	wrong, err := crash.Agree(t.Context(), location, l.f.Cores.All()[0].URL(), crash.Keys{Secret: l.f.Secret})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

// refused reports whether no program listened, so no request was sent.
func refused(err error) bool {
	way, ok := errorAs[*net.OpError](err)
	return ok && way.Op == "dial"
}
