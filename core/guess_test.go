package core_test

import (
	"testing"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestTokenCannotBeGuessed plays a payer with an order of their own and the publishable key of the page. The payer reads Request-Ids,
// which need no API key, before and after another payer's browser creates a token, and confirms with every id between them.
func TestTokenCannotBeGuessed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pk := b.publishable(t)
	order := b.MustPrepare(t, "")
	sample := func() int64 {
		t.Helper()
		n, err := id.Parse(id.Request, b.get(t, "/v1/nothing", header("Authorization")).header.Get("Request-Id"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	const widest = 2000 // ids that a thief can try between two samples
	guesses := 0
	for range 8 {
		from := sample()
		victim := MustDecode[v1.Token](t, b.post(t, "/v1/tokens", visa, pk), 201)
		to := sample()
		if number, err := id.Parse(id.Token, victim.ID); err != nil || from < number && number < to && to-from <= widest {
			t.Errorf("token %s lies between two request ids, %d apart (%v)", victim.ID, to-from, err)
		}
		for n := from + 1; n < to && to-from <= widest; n++ {
			guesses++
			a := b.confirm(t, order.id, order.proven(`,"payment_method":"`+id.Format(id.Token, n)+`"`), pk)
			if a.status == 200 {
				t.Fatalf("guess %d: another payer's card pays the order: %s", guesses, a.body)
			}
		}
	}
	b.wantTransaction(t, order.id, v1.TransactionStatusRequiresConfirmation, amounts{})
}
