package providerb_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/auth"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// signer sends requests with an HTTP signature, all in the same second, and keeps the names that their commands had.
type signer struct {
	content

	handler *providerb.Handler
	clock   *clock.Fake
	secret  []byte
	// uncertain: nobody knows what becomes of anything.
	uncertain bool
	gate      *sync.WaitGroup // when not nil, all that it counts are under way before any goes on

	mu      sync.Mutex
	names   []string // guarded by mu
	finals  []bool   // whether a refusal would have used up each name
	refuses bool     // as long as v1 refuses, and remembers nothing of it
}

func (s *signer) Execute(ctx context.Context, key secret.String, commands []command.Command) []command.Result {
	if s.gate != nil {
		s.gate.Done()
		s.gate.Wait()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := ""
	if named, ok := commands[0].(command.Named); ok {
		name, commands = named.Name, []command.Command{named.Command}
		s.finals = append(s.finals, named.Final)
	}
	if s.refuses {
		return []command.Result{{Outcome: command.Refused, Status: http.StatusForbidden, Code: "insufficient_scope"}}
	}
	name = string(commands[0].Kind()) + " " + name
	fresh := !slices.Contains(s.names, name)
	s.names = append(s.names, name)
	results := s.content.Execute(ctx, key, commands)
	results[0].Fresh = fresh
	results[0].Capture = &v1.Capture{ID: id.Format(id.Capture, 60410000124), Currency: "usd"}
	results[0].Refund = &v1.Refund{ID: id.Format(id.Refund, 60410000125), Currency: "usd"}
	if s.uncertain {
		results[0].Outcome = command.Uncertain
	}
	return results
}

// distinct is how many different payments v1 would have made.
func (s *signer) distinct() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(slices.Compact(slices.Sorted(slices.Values(s.names))))
}

func mustSigner(t *testing.T) *signer {
	t.Helper()
	s := &signer{clock: clock.NewFake(goldentest.Today), secret: []byte("a shared secret of thirty-two by")}
	path := filepath.Join(t.TempDir(), "credentials.yaml")
	text := "provider_b:\n  - merchant_id: shop\n    unlinked_credits: true\n    api_key: " + goldentest.APIKey + "\n    keys: [{id: key, shared_secret: " +
		base64.StdEncoding.EncodeToString(s.secret) + "}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := credentials.Open(path, s.clock, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.handler = providerb.New(providerb.Config{
		Executor: s, Verifier: auth.New(auth.Config{Keys: store, Clock: s.clock}), Clock: s.clock, Currency: "usd", MaxBytes: 256 << 10,
		NewNumber: func() string { return "1" },
	})
	return s
}

// request is a signed one; whatever else is equal, its body makes it another.
func (s *signer) request(ctx context.Context, body string) *http.Request {
	return s.requestTo(ctx, "/pts/v2/payments", body)
}

func (s *signer) requestTo(ctx context.Context, path, body string) *http.Request {
	const host, date = "apitest.cybersource.com", "Sat, 21 Nov 2026 09:30:00 GMT"
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body))
	sum := sha256.Sum256([]byte(body))
	digest := "SHA-256=" + base64.StdEncoding.EncodeToString(sum[:])
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte("host: " + host + "\ndate: " + date + "\nrequest-target: post " + path + "\ndigest: " + digest + "\nv-c-merchant-id: shop"))
	r.Host = host
	r.Header.Set("Date", date)
	r.Header.Set("Digest", digest)
	r.Header.Set("V-C-Merchant-Id", "shop")
	r.Header.Set("Signature", `keyid="key", algorithm="HmacSHA256", headers="host date request-target digest v-c-merchant-id", signature="`+
		base64.StdEncoding.EncodeToString(mac.Sum(nil))+`"`)
	return r
}

const signedBody = `{"clientReferenceInformation":{"code":"A"},"paymentInformation":{"card":{"number":"4111111111111111",` +
	`"expirationMonth":"12","expirationYear":"2031"}},"orderInformation":{"amountDetails":{"totalAmount":"1.00","currency":"USD"}}}`

// send sends the body; the answer must be an approval.
func (s *signer) send(t *testing.T, body string) {
	t.Helper()
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, s.request(t.Context(), body))
	if w.Code != http.StatusCreated {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
}

// deaf is a client that is gone: nothing can be written to it.
type deaf struct{ header http.Header }

var errGone = errors.New("gone")

func (d deaf) Header() http.Header     { return d.header }
func (deaf) WriteHeader(int)           {}
func (deaf) Write([]byte) (int, error) { return 0, errGone }

// TestDelivered sends the same signed request again and again: "s" is one whose answer arrives, "l" one whose answer is lost, "h" one whose
// client hangs up, "u" one whose outcome is unknown, "o" one with another body, and "f" the time after which all is forgotten.
func TestDelivered(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		steps string
		want  int
	}{
		"two in earnest":                  {"ss", 2},
		"five in earnest":                 {"sssss", 5},
		"again after a lost answer":       {"ls", 1},
		"again after several":             {"lls", 1},
		"again after the second was lost": {"sls", 2},
		"again after hanging up":          {"hs", 1},
		"another body":                    {"lo", 2},
		"after it was forgotten":          {"sfs", 1},
		"again and again after that":      {"sfsssfss", 1},
		"after several, for good":         {"ssfssss", 2},
		"again when nobody knows":         {"uuu", 1},
		"lost, and two minutes later":     {"lfssss", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mustSigner(t)
			for _, step := range tt.steps {
				s.step(t, step)
			}
			if got := s.distinct(); got != tt.want {
				t.Errorf("got %d payments, want %d: %q", got, tt.want, s.names)
			}
		})
	}
}

func (s *signer) step(t *testing.T, step rune) {
	t.Helper()
	switch step {
	case 's':
		s.send(t, signedBody)
	case 'o':
		s.send(t, strings.Replace(signedBody, `"A"`, `"B"`, 1))
	case 'l':
		s.handler.ServeHTTP(deaf{http.Header{}}, s.request(t.Context(), signedBody))
	case 'h':
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s.handler.ServeHTTP(httptest.NewRecorder(), s.request(ctx, signedBody))
	case 'u':
		s.uncertain = true
		s.handler.ServeHTTP(httptest.NewRecorder(), s.request(t.Context(), signedBody))
		s.uncertain = false
	case 'f':
		s.clock.Advance(3 * time.Minute)
	}
}

// However many answers arrive, the last are known and what is held stays within bounds.
func TestDelivered_many(t *testing.T) {
	t.Parallel()
	d := providerb.NewDelivered(clock.NewFake(goldentest.Today))
	for i := range 2 * providerb.DeliveredLimit {
		evidence := strconv.Itoa(i)
		d.Begin(evidence)
		d.Add(evidence, 0)
		last := strconv.Itoa(max(0, i+1-providerb.DeliveredLimit/2))
		if d.Before(evidence) != 1 || d.Before(last) != 1 {
			t.Fatalf("after %d: got %d and %d known, want 1 and 1", i, d.Before(evidence), d.Before(last))
		}
	}
	if got, most := d.Held(), providerb.DeliveredLimit; got > most {
		t.Errorf("got %d held, want at most %d", got, most)
	}
	if got := d.Before("0"); got != 0 {
		t.Errorf("got %d of the first, want it forgotten", got)
	}
}

// A count lasts for two minutes from the first use, to the moment, whatever is counted in them. Nothing but a first use begins another.
func TestDelivered_time(t *testing.T) {
	t.Parallel()
	c := clock.NewFake(goldentest.Today)
	d := providerb.NewDelivered(c)
	d.Begin("a")
	d.Add("a", 0)
	c.Advance(2*time.Minute - time.Second)
	d.Begin("a")
	d.Add("a", 1)
	d.Add("b", 0)
	if a, b := d.Before("a"), d.Before("b"); a != 2 || b != 0 {
		t.Errorf("got %d and %d, want 2 and 0", a, b)
	}
	c.Advance(time.Second)
	d.Add("a", 2)
	d.Add("a", 0)
	if a := d.Before("a"); a != 0 {
		t.Errorf("got %d, want it forgotten", a)
	}
}

// Another path to the same door knows what was delivered by the first.
func TestDelivered_otherMount(t *testing.T) {
	t.Parallel()
	s := mustSigner(t)
	s.send(t, signedBody)
	s.handler = s.handler.At("")
	s.send(t, signedBody)
	if got := s.distinct(); got != 2 {
		t.Errorf("got %d payments, want 2", got)
	}
}

// Equal requests that are under way at once are one: neither answer has arrived when the other is asked for.
func TestDelivered_atOnce(t *testing.T) {
	t.Parallel()
	s := mustSigner(t)
	const n = 8
	s.gate = &sync.WaitGroup{}
	s.gate.Add(n)
	var group sync.WaitGroup
	for range n {
		group.Go(func() { s.send(t, signedBody) })
	}
	group.Wait()
	if got := s.distinct(); got != 1 {
		t.Errorf("at once: got %d payments, want 1", got)
	}
	s.gate = nil
	s.send(t, signedBody)
	if got := s.distinct(); got != 2 {
		t.Errorf("one after them: got %d payments, want 2", got)
	}
}

// late is a client that reads its answer when it is let go.
type late struct {
	*httptest.ResponseRecorder

	reading, released chan struct{}
}

func (l late) Write(b []byte) (int, error) {
	close(l.reading)
	<-l.released
	return l.ResponseRecorder.Write(b)
}

// A repetition whose answer arrives late takes nothing back of what was counted meanwhile.
func TestDelivered_late(t *testing.T) {
	t.Parallel()
	s := mustSigner(t)
	l := late{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	var group sync.WaitGroup
	group.Go(func() { s.handler.ServeHTTP(l, s.request(t.Context(), signedBody)) })
	<-l.reading
	s.send(t, signedBody) // the same as the late one
	s.send(t, signedBody)
	close(l.released)
	group.Wait()
	s.send(t, signedBody)
	if got := s.distinct(); got != 3 {
		t.Errorf("got %d payments, want 3: %q", got, s.names)
	}
}

// A name of the client's own goes before what it logged in with: the first, by transactionId, whatever else differs.
func TestNames(t *testing.T) {
	t.Parallel()
	withID := strings.Replace(signedBody, `"code":"A"`, `"code":"A","transactionId":"T-1"`, 1)
	s := mustSigner(t)
	s.send(t, withID)
	s.send(t, withID)
	if got := s.distinct(); got != 1 {
		t.Errorf("by transactionId: got %d payments, want 1: %q", got, s.names)
	}
	for _, header := range []string{"v-c-idempotency-id", "v-c-idempotency-key"} {
		s := mustSigner(t)
		for range 2 {
			r := s.request(t.Context(), signedBody)
			r.Header.Set(header, "K-1")
			s.handler.ServeHTTP(httptest.NewRecorder(), r)
		}
		if got := s.distinct(); got != 1 {
			t.Errorf("by %s: got %d payments, want 1: %q", header, got, s.names)
		}
	}
	bearer := &signer{}
	h := mustHandler(t, bearer)
	for range 2 {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/pts/v2/payments", strings.NewReader(signedBody))
		r.Header.Set("Authorization", "Bearer "+goldentest.APIKey)
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	if got := bearer.names; !slices.Equal(got, []string{"payment.authorize ", "payment.authorize "}) {
		t.Errorf("by a key alone: got names %q, want none", got)
	}
}
