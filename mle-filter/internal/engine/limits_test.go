package engine_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
)

// TestBusy takes the only RSA slot. A message to an RSA key is refused, and others are not.
func TestBusy(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	w.Config.Settings = engine.Settings{Concurrency: 1, Queue: time.Millisecond}
	e := w.Engine(t)
	x, token := mustNeedBody(t, e), []byte(enginetest.Forge{Key: w.RSA}.Encrypt(t, "{}"))
	release := e.TakeSlot(engine.RSAOAEP256)
	_, p := x.Unwrap(t.Context(), token)
	if p == nil || p.Status != 503 || p.Code != engine.CodeUnavailable || p.RetryAfter != 1 {
		t.Fatalf("got %+v, want 503 with Retry-After", p)
	}
	if _, p := x.Unwrap(t.Context(), []byte("....")); p == nil || p.Status != 400 {
		t.Errorf("got %+v, want a rejection without a key", p)
	}
	if _, p := x.Unwrap(t.Context(), []byte(enginetest.Forge{Key: w.EC}.Encrypt(t, "{}"))); p != nil {
		t.Errorf("got %+v, want a message of the other algorithm accepted", p)
	}
	release()
	if _, p := x.Unwrap(t.Context(), token); p != nil {
		t.Errorf("got %+v, want the body after the slot was released", p)
	}
}

// TestClientGoneWhileWaiting ends the request of a client that waits for a slot.
func TestClientGoneWhileWaiting(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	w.Config.Settings = engine.Settings{Concurrency: 1, Queue: time.Hour}
	e := w.Engine(t)
	x, token := mustNeedBody(t, e), []byte(enginetest.Forge{Key: w.EC}.Encrypt(t, "{}"))
	defer e.TakeSlot(engine.ECDHESA256KW)()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, p := x.Unwrap(ctx, token); p == nil || p.Status != 503 {
		t.Errorf("got %+v, want an end to the wait", p)
	}
}

// TestConcurrentRequests decrypts 48 bodies at the same time. Each request gets its own plaintext.
func TestConcurrentRequests(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	w.Config.Settings = engine.Settings{Concurrency: 2, Queue: time.Minute}
	e := w.Engine(t)
	tokens := [][]byte{
		[]byte(enginetest.Forge{Key: w.EC}.Encrypt(t, "ec")), []byte(enginetest.Forge{Key: w.RSA}.Encrypt(t, "rsa")),
		[]byte(enginetest.Flips(t, w.RSA, "no")[1].Token),
	}
	var all sync.WaitGroup
	for i := range 48 {
		all.Go(func() {
			body, p := mustNeedBody(t, e).Unwrap(t.Context(), tokens[i%3])
			if (p != nil) != (i%3 == 2) {
				t.Errorf("got %+v", p)
			}
			if p == nil && string(body.Bytes) != []string{"ec", "rsa"}[i%3] {
				t.Errorf("got %q, the plaintext of another request", body.Bytes)
			}
		})
	}
	all.Wait()
}

// TestUnavailableKeys checks the response if the keys cannot be read. It does not contain the
// cause.
func TestUnavailableKeys(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	e := w.Engine(t)
	x := mustNeedBody(t, e)
	w.Ring.Fail(true)
	_, private := x.Unwrap(t.Context(), []byte(enginetest.Forge{Key: w.EC}.Encrypt(t, "{}")))
	_, response := e.Begin(t.Context(), engine.RequestHead{
		Method: "GET", Path: enginetest.Path, Fields: http.Header{"X-Svc-Mle-Response": {"required"}},
	}, enginetest.Call(enginetest.Merchant))
	for name, p := range map[string]*engine.Problem{"private": private, "response": response} {
		if p == nil || p.Status != 503 || p.RetryAfter == 0 || !errors.Is(p.Cause, enginetest.ErrDown) {
			t.Fatalf("%s: got %+v, want 503 and the cause", name, p)
		}
		if strings.Contains(string(p.Body("")), "enginetest") {
			t.Errorf("%s: got %s, which contains the cause", name, p.Body(""))
		}
	}
}

// TestUnfitKeys checks that a stored key that does not fit its algorithm is a fault of the service.
// The client gets 503.
func TestUnfitKeys(t *testing.T) {
	t.Parallel()
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	for name, private := range map[string]any{
		"no key": nil, "text": "key", "small": small, "of another type": &ecdsa.PrivateKey{},
	} {
		ring := &enginetest.Ring{}
		w := enginetest.NewWorld(t)
		ring.Add(enginetest.Merchant, enginetest.Key{KID: w.RSA.KID, Alg: engine.RSAOAEP256, Private: private})
		x := mustNeedBody(t, mustEngine(t, engine.Config{Keys: ring}))
		if _, p := x.Unwrap(t.Context(), []byte(enginetest.Forge{Key: w.RSA}.Encrypt(t, "{}"))); p == nil ||
			p.Status != 503 || p.Cause == nil {
			t.Errorf("%s: got %+v, want 503", name, p)
		}
	}
}

func TestRequiredIAT(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	w.Config.RequireIAT = true
	x := mustNeedBody(t, w.Engine(t))
	if _, p := x.Unwrap(t.Context(), []byte(enginetest.Forge{Key: w.EC}.Encrypt(t, "{}"))); p == nil ||
		p.Code != engine.CodeDecryptFailed || p.Reason != "iat" {
		t.Errorf("without: got %+v, want a refusal", p)
	}
	with := enginetest.Forge{Key: w.EC, Header: map[string]any{"iat": enginetest.Noon.Unix()}}
	if _, p := x.Unwrap(t.Context(), []byte(with.Encrypt(t, "{}"))); p != nil {
		t.Errorf("with: got %+v", p)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]engine.Settings{
		"negative":                {MaxBody: -1},
		"too large":               {MaxResponse: 64<<20 + 1},
		"no slots":                {Concurrency: -1},
		"short age":               {MaxAge: time.Millisecond},
		"long age":                {MaxAge: 12 * time.Hour},
		"negative queue":          {Queue: -1},
		"negative plaintext":      {MaxPlaintext: -1},
		"far too large":           {MaxPlaintext: math.MaxInt},
		"plaintext beyond a body": {MaxBody: 2000, MaxPlaintext: 2000},
		"the former defaults":     {MaxBody: 256 << 10, MaxPlaintext: 192 << 10},
		"a byte beyond":           {MaxBody: 265_599, MaxPlaintext: 192 << 10},
	} {
		w := enginetest.NewWorld(t)
		w.Config.Settings = s // the other parts are valid
		if _, err := engine.New(w.Config); err == nil {
			t.Errorf("%s: got an engine", name)
		}
	}
	if _, err := engine.New(engine.Config{}); err == nil {
		t.Error("got an engine without keys")
	}
	if s := mustEngine(t, engine.Config{Keys: &enginetest.Ring{}}).Settings(); s.MaxBody != 256<<10 ||
		s.MaxPlaintext != 188<<10 || s.Concurrency < 2 {
		t.Errorf("got %+v, want the defaults", s)
	}
}

// TestLimitsFit sets one of two limits. The other one is derived from it.
func TestLimitsFit(t *testing.T) {
	t.Parallel()
	for set, want := range map[engine.Settings]engine.Settings{
		{}:                      {MaxBody: 256 << 10, MaxPlaintext: 188 << 10},
		{MaxBody: 128 << 10}:    {MaxBody: 128 << 10, MaxPlaintext: 128 << 10},
		{MaxBody: 1 << 20}:      {MaxBody: 1 << 20, MaxPlaintext: 188 << 10},
		{MaxPlaintext: 1 << 10}: {MaxBody: 256 << 10, MaxPlaintext: 1 << 10},
		{MaxPlaintext: 768_000}: {MaxBody: 1_027_456, MaxPlaintext: 768_000},
		{MaxBody: 265_600, MaxPlaintext: 192 << 10}:   {MaxBody: 265_600, MaxPlaintext: 192 << 10},
		{MaxHeader: 8 << 10, MaxPlaintext: 192 << 10}: {MaxBody: 273_792, MaxPlaintext: 192 << 10},
	} {
		got, err := set.Complete()
		if err != nil || got.MaxBody != want.MaxBody || got.MaxPlaintext != want.MaxPlaintext {
			t.Errorf(
				"%+v: got %d and %d, %v, want %d and %d", set, got.MaxBody, got.MaxPlaintext, err, want.MaxBody, want.MaxPlaintext,
			)
		}
	}
}

// TestLargestPlaintext checks that the default limit of plaintexts can be reached with a header of
// the largest size.
func TestLargestPlaintext(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	w.Config.Settings = engine.Settings{}
	pad := func(h string) string {
		return h[:len(h)-1] + `,"pad":"` + strings.Repeat("x", 2<<10-len(h)-len(`,"pad":""`)) + `"}`
	}
	for size, want := range map[int]int{188 << 10: 0, 188<<10 + 1: 413} {
		status := 0
		token := enginetest.Forge{Key: w.RSA, Raw: pad}.Encrypt(t, strings.Repeat("x", size))
		if _, p := mustNeedBody(t, w.Engine(t)).Unwrap(t.Context(), []byte(token)); p != nil {
			status = p.Status
		}
		if status != want {
			t.Errorf("%d bytes, %d encrypted: got %d, want %d", size, len(token), status, want)
		}
	}
}

// TestSmallerLimits sends messages of exactly each limit, and of one byte more.
func TestSmallerLimits(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	token := enginetest.Forge{Key: w.EC}.Encrypt(t, strings.Repeat("x", 100))
	for name, c := range map[string]struct {
		settings engine.Settings
		status   int
	}{
		"body, exactly":      {engine.Settings{MaxBody: len(token)}, 0},
		"body":               {engine.Settings{MaxBody: len(token) - 1}, 413},
		"plaintext, exactly": {engine.Settings{MaxPlaintext: 100}, 0},
		"plaintext":          {engine.Settings{MaxPlaintext: 99}, 413},
		"header":             {engine.Settings{MaxHeader: 100}, 400},
	} {
		w.Config.Settings = c.settings
		status := 0
		if _, p := mustNeedBody(t, w.Engine(t)).Unwrap(t.Context(), []byte(token)); p != nil {
			status = p.Status
		}
		if status != c.status {
			t.Errorf("%s: got %d, want %d", name, status, c.status)
		}
	}
}
