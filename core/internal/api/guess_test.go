package api_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestTokenCannotBeGuessed acts as a payer with a separate order and the publishable key of the
// page. The payer reads Request-Ids, which need no API key, before and after another payer's
// browser creates a token. Then the payer confirms with every id between them.
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
	const widest = 2000 // ids that an attacker can try between two samples
	guesses := 0
	for range 8 {
		from := sample()
		victim := MustDecode[v1.Token](t, b.post(t, "/v1/tokens", visa, pk), 201)
		to := sample()
		if number, err := id.Parse(id.Token, victim.ID); err != nil || from < number && number < to && to-from <= widest {
			t.Errorf("token %s is between two request ids, %d apart (%v)", victim.ID, to-from, err)
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

// TestTokenIDPaysForNothing: the id of a token, which reports and logs show, cannot pay or become a
// payment method. The same holds for its value with one letter changed. Only the creation shows the
// value.
func TestTokenIDPaysForNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pk := b.publishable(t)
	customer, order := b.MustCustomer(t, "{}").ID, b.MustPrepare(t, "")
	token := b.MustToken(t, visa)
	value := token.Value.Reveal()
	if got, want := value[:len(token.ID)+1], token.ID+"_"; got != want || len(value) != len(want)+32 {
		t.Errorf("value: got %d characters after %q, want 32 after %q", len(value)-len(got), got, want)
	}
	other := b.MustToken(t, visa).Value.Reveal()
	wrong := []string{token.ID, token.ID + "_", value + "0", value[:len(value)-1], strings.ToUpper(value), token.ID + other[len(token.ID):]}
	for i := len(token.ID) + 1; i < len(value); i += 7 {
		changed := []byte(value)
		changed[i] ^= 1 // which is another letter of the alphabet, or no letter of it at all
		wrong = append(wrong, string(changed))
	}
	before := b.rows(t)
	unknown := invalid("unknown_payment_method", "payment_method")
	for i, name := range wrong {
		wantRefusal(t, b.pay(t, name, ""), unknown)
		wantRefusal(t, b.attach(t, customer, name), invalid("unknown_payment_method", "token"))
		if i < 4 {
			wantRefusal(t, b.confirm(t, order.id, order.proven(`,"payment_method":"`+name+`"`), pk), unknown)
		}
	}
	if got, want := b.rows(t), before; got != want {
		t.Errorf("rows: got %s, want %s", got, want)
	}
	wantRefusal(t, b.get(t, "/v1/tokens/"+value), refusal{404, v1.ErrorTypeInvalidRequestError, "not_found", "id"})
	paid := b.pay(t, value, "")
	if got := MustDecode[v1.Transaction](t, paid, 201); got.PaymentMethod != token.ID {
		t.Errorf("payment method: got %s, want %s", got.PaymentMethod, token.ID)
	}
	secret := value[len(token.ID)+1:]
	for _, a := range []response{paid, b.get(t, "/v1/tokens/"+token.ID), b.get(t, "/v1/transactions"), b.get(t, "/v1/events")} {
		if a.status >= 300 || strings.Contains(string(a.body), secret) {
			t.Errorf("got %d %s, want no value", a.status, a.body)
		}
	}
}

// TestTokenValueIsKeptSealed: for a day, a retry of the creation gets the value again, from a
// stored response. A reader of the store cannot see the value.
func TestTokenValueIsKeptSealed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.post(t, "/v1/tokens", visa, keyed("k"))
	value := MustDecode[v1.Token](t, first, 201).Value.Reveal()
	b.MustToken(t, visa)
	b.pay(t, value, "", keyed("pay"))
	b.restart(t)
	b.clock.Advance(23 * time.Hour)
	wantReplay(t, b.post(t, "/v1/tokens", visa, keyed("k")), first)
	places := b.database.Files(t, b.dir)
	places["the log"] = []byte(b.logs.String())
	for place, content := range places {
		if strings.Contains(string(content), value[len("tok_")+13:]) {
			t.Errorf("the value is in %s", place)
		}
	}
}

// TestRefusedConfirmationsAreBounded: a payer's key can name a wrong source only a few times for
// one transaction. The merchant's server can still confirm it.
func TestRefusedConfirmationsAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pk := b.publishable(t)
	u, other := b.MustPrepare(t, ""), b.MustPrepare(t, "")
	used := b.MustToken(t, visa).Value.Reveal()
	MustDecode[v1.Transaction](t, b.pay(t, used, ""), 201)
	stored := b.MustAttach(t, b.MustCustomer(t, "{}").ID, visa).ID
	tries := []struct{ method, code string }{
		{used, "token_used"},
		{"tok_0000000000001_00000000000000000000000000000000", "unknown_payment_method"},
		{stored, "invalid_value"},
		{"tok_0000000000001", "unknown_payment_method"},
		{"pm_0000000000001", "unknown_payment_method"},
	}
	typo := `,"payment_method":"card","card":{"number":"4242424242424241","exp_month":12,"exp_year":2030}`
	for range 20 { // typing errors of a payer are not counted
		wantRefusal(t, b.confirm(t, u.id, u.proven(typo), pk), invalid("invalid_card_number", "card.number"))
	}
	for i := range 10 {
		try := tries[i%len(tries)]
		guess := b.confirm(t, u.id, u.proven(`,"payment_method":"`+try.method+`"`), pk, keyed(fmt.Sprint("guess ", i)))
		wantRefusal(t, guess, invalid(try.code, "payment_method"))
	}
	bound := refusal{409, v1.ErrorTypeInvalidRequestError, "too_many_confirmations", ""}
	wantRefusal(t, b.confirm(t, u.id, u.proven(typedCard), pk), bound)
	b.restart(t)
	wantRefusal(t, b.confirm(t, u.id, u.proven(typedCard), pk), bound)
	b.wantTransaction(t, u.id, v1.TransactionStatusRequiresConfirmation, amounts{})
	MustDecode[v1.Transaction](t, b.confirm(t, u.id, `{`+typedCard[1:]+`}`), 200)
	MustDecode[v1.Transaction](t, b.confirm(t, other.id, other.proven(typedCard), pk), 200)
}

// TestARetryOfARefusedConfirmationCountsOnce: a retry under the same Idempotency-Key gets the
// stored refusal and uses up no further try, before and after the bound.
func TestARetryOfARefusedConfirmationCountsOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pk := b.publishable(t)
	u := b.MustPrepare(t, "")
	used := b.MustToken(t, visa).Value.Reveal()
	MustDecode[v1.Transaction](t, b.pay(t, used, ""), 201)
	stored := b.MustAttach(t, b.MustCustomer(t, "{}").ID, visa).ID
	methods := []string{used, "tok_0000000000001_00000000000000000000000000000000", stored, "tok_0000000000001"}
	var first []response
	guess := func(i int) response {
		body := u.proven(`,"payment_method":"` + methods[i%len(methods)] + `"`)
		return b.confirm(t, u.id, body, pk, keyed(fmt.Sprint("guess ", i)))
	}
	for i := range 10 {
		first = append(first, guess(i))
		if first[i].status != 400 {
			t.Fatalf("guess %d: got %d %s, want 400", i, first[i].status, first[i].body)
		}
		wantReplay(t, guess(i), first[i])
		if got, want := b.number(t, "SELECT MAX(refused_confirmations) FROM transactions"), int64(i+1); got != want {
			t.Fatalf("guess %d, sent twice: counted %d, want %d", i, got, want)
		}
	}
	bound := refusal{409, v1.ErrorTypeInvalidRequestError, "too_many_confirmations", ""}
	wantRefusal(t, b.confirm(t, u.id, u.proven(typedCard), pk), bound)
	for i := range first {
		wantReplay(t, guess(i), first[i])
	}
}

// TestPayerSeesNoHolder: a client with a publishable key reads no name of a card or account, and
// none of the issuer's checks.
func TestPayerSeesNoHolder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pk := b.publishable(t)
	for name, token := range map[string]string{
		"card": visa, "account": `{"bank_account":{` + accountFields + `}}`,
		"declined": strings.Replace(visa, "4242424242424242", "4000000000009995", 1),
	} {
		u := b.MustPrepare(t, "")
		value := MustDecode[v1.Token](t, b.post(t, "/v1/tokens", token, pk), 201).Value.Reveal()
		for range 2 { // the second response is the stored one
			a := b.confirm(t, u.id, u.proven(`,"payment_method":"`+value+`"`), pk, keyed(name))
			for _, hidden := range []string{"holder", "Payer", "Ann", "checks", "result_code", `"code":"A`} {
				if strings.Contains(string(a.body), hidden) {
					t.Errorf("%s: a payer sees %q: %s", name, hidden, a.body)
				}
			}
		}
	}
	for method, want := range map[string]v1.DeclineCode{
		"pm_card_incorrect_cvc": "generic_decline", "pm_card_expired": "generic_decline", "pm_card_insufficient_funds": "insufficient_funds",
	} {
		u := b.MustPrepare(t, "")
		e := wantRefusal(t, b.confirm(t, u.id, u.proven(`,"payment_method":"`+method+`"`), pk), refusal{402, v1.ErrorTypeCardError, "card_declined", ""})
		if *e.DeclineCode != want || *e.Transaction.DeclineCode != want {
			t.Errorf("%s: got %s, want %s", method, *e.DeclineCode, want)
		}
	}
}

// TestParallelGuessesAreBounded: concurrent confirmations with wrong sources cannot exceed the
// bound of refused confirmations. The others are refused without a check, and with a status that a
// client retries.
func TestParallelGuessesAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pk := b.publishable(t)
	u, other := b.MustPrepare(t, ""), b.MustPrepare(t, "")
	const guesses = 64
	responses := make([]response, guesses)
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
	for i := judged; i < 10; i++ { // an ended guess reserves no refusal
		wantRefusal(t, b.confirm(t, u.id, u.proven(`,"payment_method":"tok_0000000000001"`), pk), invalid("unknown_payment_method", "payment_method"))
	}
	bound := refusal{409, v1.ErrorTypeInvalidRequestError, "too_many_confirmations", ""}
	wantRefusal(t, b.confirm(t, u.id, u.proven(typedCard), pk), bound)
	MustDecode[v1.Transaction](t, b.confirm(t, other.id, other.proven(typedCard), pk), 200)
	MustDecode[v1.Transaction](t, b.confirm(t, u.id, `{`+typedCard[1:]+`}`), 200)
}
