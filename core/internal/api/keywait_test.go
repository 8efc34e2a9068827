package api_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/store"
)

// TestRevocationByARevokedKeySQLite: a revocation waits for the writer, and meanwhile its own API
// key is revoked. The revocation has no effect, so a stolen key cannot revoke the merchant's last
// key.
func TestRevocationByARevokedKeySQLite(t *testing.T) {
	t.Parallel()
	s := coretest.Open(t)
	_, own := sendTo(t, s, s.Key, "GET /v1/api_keys/current", "")
	attacker, stolen := mustKey(t, s)
	queue := func(fn func()) {
		before := s.DB.Waiting()
		go fn()
		for s.DB.Waiting() == before {
			runtime.Gosched()
		}
	}
	command := func(fn func()) func() {
		return func() { _ = s.DB.Update(t.Context(), func(*store.Tx) error { fn(); return nil }) }
	}
	held, first, second := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go command(func() { close(held); <-first })()
	<-held
	merchant, attack := make(chan int, 1), make(chan int, 1)
	revoke := func(of, path string, status chan<- int) func() {
		return func() {
			got, _ := sendTo(t, s, of, "DELETE /v1/api_keys/"+path, "")
			status <- got
		}
	}
	queue(revoke(s.Key, stolen, merchant))
	queue(command(func() { s.Clock.Advance(25 * time.Millisecond) })) // the batch ends
	queue(command(func() { <-second }))
	queue(revoke(attacker, own["id"].(string)+"?force=true", attack))
	close(first)
	if got := <-merchant; got != 200 {
		t.Fatalf("the revocation of the stolen key: got %d, want 200", got)
	}
	close(second)
	if got := <-attack; got != 401 {
		t.Errorf("the revocation by the revoked key: got %d, want 401", got)
	}
	if got, _ := sendTo(t, s, s.Key, "GET /v1/api_keys/current", ""); got != 200 {
		t.Errorf("the merchant's own key: got %d, want 200", got)
	}
}
