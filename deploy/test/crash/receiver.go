package crash

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// receiver accepts webhooks at one path for each endpoint, and outlives the process. It verifies
// each by the secrets of the harness. It refuses some deliveries once, so that some deliveries wait
// for their retry during a kill.
type receiver struct {
	server *httptest.Server

	mu        sync.Mutex // guards the fields below
	secrets   map[string][]string
	got       map[string]map[string]receipt // by path, by event
	refused   map[string]bool
	refuse    float64 // the share that is refused
	waiting   map[string][]delivery
	changed   []change
	faults    []string
	randomise *rand.Rand
}

// receipt is the record of the deliveries of one event.
type receipt struct {
	body  [sha256.Size]byte
	valid []int // for the last one: the generations, from 0, of the secrets that signed it
}

// change is an event that was delivered again with other bytes.
type change struct {
	id, path string
	event    v1.Event
}

type delivery struct{ id, at, signatures, body string }

func newReceiver(seed uint64, refuse float64) *receiver {
	r := &receiver{
		secrets: map[string][]string{}, got: map[string]map[string]receipt{}, refused: map[string]bool{},
		waiting: map[string][]delivery{},
		refuse:  refuse, randomise: rand.New(rand.NewPCG(seed, 0)), //nolint:gosec // to be repeatable is the point
	}
	r.server = httptest.NewServer(r)
	return r
}

func (r *receiver) url(path string) string { return r.server.URL + path }

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	field := q.Header.Get
	d := delivery{field("Webhook-Id"), field("Webhook-Timestamp"), field("Webhook-Signature"), string(body)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || !r.refused[q.URL.Path+d.id] && r.randomise.Float64() < r.refuse {
		r.refused[q.URL.Path+d.id] = true
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if len(r.secrets[q.URL.Path]) == 0 { // the response to its creation has not come yet
		r.waiting[q.URL.Path] = append(r.waiting[q.URL.Path], d)
		return
	}
	r.take(q.URL.Path, d)
}

// trust adds an endpoint's newest secret. A replay that shows a known one again changes nothing.
func (r *receiver) trust(path, secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.secrets[path] {
		if s == secret {
			return
		}
	}
	r.secrets[path] = append(r.secrets[path], secret)
	for _, d := range r.waiting[path] {
		r.take(path, d)
	}
	delete(r.waiting, path)
}

// take records a delivery; r.mu is held.
func (r *receiver) take(path string, d delivery) {
	valid := verify(r.secrets[path], d)
	if len(valid) == 0 {
		r.faults = append(r.faults, "webhook "+d.id+" at "+path+": no signature by a known secret: "+d.signatures)
	}
	if r.got[path] == nil {
		r.got[path] = map[string]receipt{}
	}
	now := receipt{sha256.Sum256([]byte(d.body)), valid}
	if was, again := r.got[path][d.id]; again && was.body != now.body {
		r.changed = append(r.changed, change{d.id, path, decode[v1.Event](d.body)})
	}
	r.got[path][d.id] = now
}

// verify returns which of the secrets signed a delivery, by the Standard Webhooks.
func verify(secrets []string, d delivery) []int {
	var valid []int
	for i, s := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, "whsec_"))
		if err != nil {
			continue
		}
		mac := hmac.New(sha256.New, key)
		_, _ = io.WriteString(mac, d.id+"."+d.at+"."+d.body) // a hash accepts every write
		want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		for one := range strings.SplitSeq(d.signatures, " ") {
			if one == want {
				valid = append(valid, i)
			}
		}
	}
	return valid
}

// receipt returns the record of an event at a path.
func (r *receiver) receipt(path, event string) (receipt, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	got, ok := r.got[path][event]
	return got, ok
}

// events returns how many different events arrived at a path.
func (r *receiver) events(path string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.got[path])
}

// generations returns how many secrets of a path are known.
func (r *receiver) generations(path string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.secrets[path])
}

// complaints returns the faults of deliveries, and clears them. The event of an erased object may
// arrive again without its personal data.
func (r *receiver) complaints(erased map[string]bool) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.faults
	for _, c := range r.changed {
		if !erased[idOf(c.event.Data.Object)] {
			out = append(out, "webhook "+c.id+" at "+c.path+" was delivered again with other bytes")
		}
	}
	r.faults, r.changed = nil, nil
	return out
}
