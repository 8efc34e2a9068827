package on_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// site is a core on a data folder, and its clients.
type site struct {
	data, merchant, key string
	env                 []string
	core                *programtest.Program
	url                 string

	mu   sync.Mutex
	paid []acknowledged // guarded by mu
}

// acknowledged is a payment with the times of its request and its response.
type acknowledged struct {
	id              string
	sent, confirmed time.Time
}

func newSite(t *testing.T, data string) *site {
	t.Helper()
	s := &site{data: data, env: []string{"CAUSEWAY_VAULT_KEK=" + programtest.Secret()}}
	s.merchant = s.run(t, "merchants", "create", "Shop", "--data", data)
	s.key = s.run(t, "keys", "create", "--merchant", s.merchant, "--data", data)
	return s
}

// run runs a command of core.
func (s *site) run(t *testing.T, args ...string) string {
	t.Helper()
	return programtest.MustOutput(t, programtest.Command{Path: filepath.Join(bin, "core"), Args: args, Env: s.env})
}

// start starts core, and returns when its health is 200.
func (s *site) start(t *testing.T) {
	t.Helper()
	s.core = programtest.Start(t, programtest.Command{
		Path: filepath.Join(bin, "core"), Env: s.env,
		Args: []string{"serve", "--data", s.data, "--listen", "127.0.0.1:0", "--rate-limit", "0"},
	})
	s.url = "http://" + s.core.MustAddress(t, "listen")
	programtest.WaitFor(t, "core is healthy", func() bool {
		status, _, err := s.send(t.Context(), http.MethodGet, "/v1/health", "")
		return err == nil && status == http.StatusOK
	})
}

func (s *site) send(ctx context.Context, method, path, body string) (status int, text []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer got.Body.Close() //nolint:errcheck // it was read
	text, err = io.ReadAll(got.Body)
	return got.StatusCode, text, err
}

// pay sends a payment, and records it if its response is 201.
func (s *site) pay(ctx context.Context) bool {
	sent := now()
	status, text, err := s.send(ctx, http.MethodPost, "/v1/transactions",
		`{"amount":100,"currency":"usd","payment_method":"card"}`)
	var made struct{ ID string }
	if err != nil || status != http.StatusCreated || json.Unmarshal(text, &made) != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paid = append(s.paid, acknowledged{made.ID, sent, now()})
	return true
}

// payments returns the acknowledged payments.
func (s *site) payments() []acknowledged {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paid[:len(s.paid):len(s.paid)]
}

// awaitPayments waits until clients have paid n times more.
func (s *site) awaitPayments(t *testing.T, n int) {
	t.Helper()
	want := len(s.payments()) + n
	programtest.WaitFor(t, "the clients pay", func() bool { return len(s.payments()) >= want })
}

func now() time.Time { return time.Now() } //nolint:forbidigo // the drill measures real time

// TestRestoreDrill takes a backup while clients pay, loses the data folder, and restores it by the
// steps of deploy/docs/operate/backup.md. It prints the recovery point: the age of the backup, and
// the payments that it lacks. The recovery time ends with the next accepted payment.
func TestRestoreDrill(t *testing.T) {
	t.Parallel()
	n := 200
	if programtest.Soak() {
		n = 50_000
	}
	dir := t.TempDir()
	s := newSite(t, filepath.Join(dir, "core"))
	s.start(t)
	var stopped atomic.Bool
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for !stopped.Load() && s.pay(context.WithoutCancel(t.Context())) {
			}
		})
	}
	s.awaitPayments(t, n)
	begun := now()
	s.run(t, "backup", "--data", s.data, "--to", filepath.Join(dir, "backup"))
	saved := now()
	s.awaitPayments(t, n/10)

	lost := now()
	stopped.Store(true)
	s.core.Kill()
	clients.Wait()
	before := s.payments()
	if err := os.Rename(s.data, s.data+".before"); err != nil {
		t.Fatal(err)
	}
	s.run(t, "restore", "--from", filepath.Join(dir, "backup"), "--data", s.data)
	restored := now()
	s.start(t)
	if !s.pay(t.Context()) {
		t.Error("the restored core accepts no payment")
	}
	recovered := now()
	missing := s.wantRestored(t, before, begun, saved)
	t.Logf("recovery point: the backup was %s old; %d of %d acknowledged payments are missing",
		lost.Sub(begun).Round(time.Millisecond), missing, len(before))
	t.Logf("recovery time: %s from the loss to the next payment, of which the restore took %s; the backup took %s",
		recovered.Sub(lost).Round(time.Millisecond), restored.Sub(lost).Round(time.Millisecond),
		saved.Sub(begun).Round(time.Millisecond))
}

// wantRestored fails the test unless the store has each payment that was confirmed before the
// backup began, and none that was sent after its end. It returns the number of missing payments.
func (s *site) wantRestored(t *testing.T, paid []acknowledged, begun, saved time.Time) (missing int) {
	t.Helper()
	for _, p := range paid {
		status, text, err := s.send(t.Context(), http.MethodGet, "/v1/transactions/"+p.id, "")
		if err != nil {
			t.Fatal(err)
		}
		found := status == http.StatusOK && strings.Contains(string(text), `"status":"captured"`)
		if !found {
			missing++
		}
		if p.confirmed.Before(begun) && !found || p.sent.After(saved) && status != http.StatusNotFound {
			t.Errorf("%s, sent %s after the backup's begin: got %d %s", p.id, p.sent.Sub(begun), status, text)
		}
	}
	return missing
}
