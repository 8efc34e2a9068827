package standalone_test

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/test/crash"
)

// TestKillWhileItMakesItsFolder kills first starts at random moments until one succeeds. It must
// complete the folder and take a payment, and the next start must have that payment.
func TestKillWhileItMakesItsFolder(t *testing.T) {
	t.Parallel()
	seed := crash.Seed(t)
	t.Logf("CAUSEWAY_CRASH_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 2))
	for n := range crash.Rounds(t, crashRounds) {
		dir := t.TempDir()
		for range 1 + rng.IntN(4) {
			p := launch(t, "--json", "--data", dir, "--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0")
			<-time.After(time.Duration(rng.IntN(150_000)) * time.Microsecond)
			p.Kill()
		}
		p := startNew(t, nil, dir)
		body := `{"amount":100,"currency":"usd","payment_method":"card","reference":"` + strconv.Itoa(n) + `"}`
		paid := merchantOf(t, p).must(t, http.MethodPost, "/v1/transactions", "first", body)
		if paid.status != http.StatusCreated {
			t.Fatalf("start %d: %d %s", n, paid.status, paid.body)
		}
		p.Kill()
		p = start(t, dir)
		if again := merchantOf(t, p).must(t, http.MethodPost, "/v1/transactions", "first", body); again.body != paid.body ||
			!again.replayed {
			t.Errorf("start %d: %d %s, want %s", n, again.status, again.body, paid.body)
		}
		p.Kill()
	}
}
