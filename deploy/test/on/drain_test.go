package on_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestDrain: a payment that is under way when Envoy is to be stopped is answered first; edge drain returns after it, and not before.
func TestDrain(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.startAll(t)
	key := m.must(t, "core keys create --data /var/lib/causeway/core --merchant "+m.must(t, "core merchants create Shop --data /var/lib/causeway/core"))
	answered := make(chan string, 1)
	go func() {
		// The card's approval takes five seconds.
		_, answer := m.call(t, http.MethodPost, "https://api.example.com/v1/transactions", key, strings.Replace(payment, `"card"`, `"pm_card_slow"`, 1))
		answered <- answer
	}()
	m.envoy.Wait(t, "has no request under way", func() bool {
		return strings.Contains(m.envoy.Get(t, "/stats?filter=edge.downstream_rq_active"), ": 1")
	})
	for impatience := 500 * time.Millisecond; ; impatience *= 2 {
		out, err := m.run(t, "edge drain --admin 127.0.0.1:9901 --quiet 1ms --patience "+impatience.String())
		if err != nil && strings.Contains(out, "deadline exceeded") && impatience < 4*time.Second {
			continue // the machine is busy: Envoy did not even say how many there are
		}
		if err == nil && impatience > 500*time.Millisecond {
			select {
			case answer := <-answered:
				answered <- answer
				t.Log("the payment was through before anybody could be impatient: the machine is busy")
				impatience = patience
			case <-time.After(time.Second):
			}
		}
		if impatience == patience {
			break
		}
		if err == nil || !strings.Contains(out, "1 requests are under way") {
			t.Errorf("impatient: got %v, %s", err, out)
		}
		break
	}
	m.must(t, "edge drain --admin 127.0.0.1:9901 --quiet 1ms --patience "+patience.String())
	select {
	case answer := <-answered:
		if !strings.Contains(answer, `"status":"captured"`) {
			t.Errorf("got %s", answer)
		}
	case <-time.After(patience):
		t.Error("the drain ended, and the payment was not answered")
	}
}
