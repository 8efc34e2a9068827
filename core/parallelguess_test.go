package core_test

import (
	"fmt"
	"sync"
	"testing"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestParallelGuessesAreBounded: of many wrong sources for one transaction that a payer's key names
// at once, no more are judged than one after the other. The others are refused without a judgement,
// and with a status that a client retries on.
func TestParallelGuessesAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pk := b.publishable(t)
	u, other := b.MustPrepare(t, ""), b.MustPrepare(t, "")
	const guesses = 64
	responses := make([]answer, guesses)
	var begun, ended sync.WaitGroup
	begun.Add(guesses)
	for i := range guesses {
		ended.Go(func() {
			wrong := u.proven(fmt.Sprintf(`,"payment_method":"tok_%013d_00000000000000000000000000000000"`, i+1))
			begun.Done()
			begun.Wait()
			responses[i] = b.confirm(t, u.id, wrong, pk, keyed(fmt.Sprint("guess ", i)))
		})
	}
	ended.Wait()
	judged := 0
	for i, a := range responses {
		switch {
		case a.status == 400:
			judged++
			wantRefusal(t, a, invalid("unknown_payment_method", "payment_method"))
		case a.status != 409:
			t.Errorf("guess %d: got %d %s, want 400 or 409", i, a.status, a.body)
		}
	}
	if judged == 0 || judged > 10 {
		t.Errorf("judged: got %d guesses, want 1 to 10", judged)
	}
	if got := b.number(t, "SELECT MAX(refused_confirmations) FROM transactions"); got != int64(judged) {
		t.Errorf("counted: got %d, want %d", got, judged)
	}
	for i := judged; i < 10; i++ { // an ended guess holds nothing back
		wantRefusal(t, b.confirm(t, u.id, u.proven(`,"payment_method":"tok_0000000000001"`), pk), invalid("unknown_payment_method", "payment_method"))
	}
	bound := refusal{409, v1.ErrorTypeInvalidRequestError, "too_many_confirmations", ""}
	wantRefusal(t, b.confirm(t, u.id, u.proven(typedCard), pk), bound)
	MustDecode[v1.Transaction](t, b.confirm(t, other.id, other.proven(typedCard), pk), 200)
	MustDecode[v1.Transaction](t, b.confirm(t, u.id, `{`+typedCard[1:]+`}`), 200)
}
