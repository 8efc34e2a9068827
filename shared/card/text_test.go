package card_test

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
)

// TestMaskText holds each text to its masked form; one that is the same contains no card number.
func TestMaskText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"4111111111111111":                        "XXXXXXXXXXXX1111",
		"order_4111111111111111!":                 "order_XXXXXXXXXXXX1111!",
		"4111111111111111@example.com":            "XXXXXXXXXXXX1111@example.com",
		"http://x/4111111111111111?a=1":           "http://x/XXXXXXXXXXXX1111?a=1",
		"Karte:4111 1111 1111 1111 12/31 737":     "Karte:XXXX XXXX XXXX 1111 12/31 737",
		"12 4111-1111-1111-1111":                  "12 XXXX-XXXX-XXXX-1111",
		"3782 822463 10005":                       "XXXX XXXXXX X0005",
		"6759649826438453":                        "XXXXXXXXXXXX8453",
		"30569309025904":                          "XXXXXXXXXX5904",
		"6212345678900000003":                     "XXXXXXXXXXXXXXX0003",
		"4111111111111111 and 5555555555554444":   "XXXXXXXXXXXX1111 and XXXXXXXXXXXX4444",
		"4111111111111112":                        "4111111111111112", // another check digit
		"2026112200001237":                        "2026112200001237", // an order number
		"9111111111111118":                        "9111111111111118", // no brand
		"41111111111111110":                       "41111111111111110",
		"a4111111111111111":                       "a4111111111111111", // one word with a letter
		"550e8400-e29b-41d4-a716-446655440000":    "550e8400-e29b-41d4-a716-446655440000",
		"018f4e3c-1111-4111-8111-111111111111":    "018f4e3c-1111-4111-8111-111111111111",
		"4111  1111 1111 1111":                    "4111  1111 1111 1111", // two spaces
		"411111 1111111111":                       "411111 1111111111",
		"4242 4242-4242 4242":                     "4242 4242-4242 4242", // two separators
		"4242424242424242 4242 4242 4242":         "XXXXXXXXXXXX4242 4242 4242 4242",
		"4242 4242 4242 4242 4242 4242 4242":      "XXXX XXXX XXXX XXXX XXXX XXXX 4242",
		"+49 176 12345678":                        "+49 176 12345678",
		"4917612345673":                           "4917612345673", // a telephone number with a check digit
		"4006381333931":                           "4006381333931", // an article number
		"3800000000000000006":                     "3800000000000000006",
		"txn_3gxw4c1zk2n5t":                       "txn_3gxw4c1zk2n5t",
		"DE89370400440532013000":                  "DE89370400440532013000",
		"2026-11-22 05:26:37.000":                 "2026-11-22 05:26:37.000",
		"2222 4000 7000 0005, 2222-4000-70000005": "XXXX XXXX XXXX 0005, 2222-4000-70000005",
		"": "",
	} {
		if got := card.MaskText(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestMaskTextOwn: the request's own number is found wherever it stands, also one that is otherwise
// let pass.
func TestMaskTextOwn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ own, text, want string }{
		{"4111111111111111", "x4111111111111111y", "xXXXXXXXXXXXX1111y"},
		{"4111111111111111", "04111111111111111", "0XXXXXXXXXXXX1111"},
		{"4111111111111111", "411111 - 1111111111", "XXXXXX - XXXXXX1111"},
		{"4222222222222", "4222222222222", "XXXXXXXXX2222"},
		{"9111111111111118", "ref 9111 1111-11111118", "ref XXXX XXXX-XXXX1118"},
		{"4111111111111111", "4111/1111/1111/1111", "4111/1111/1111/1111"},
		{"", "nothing that is long enough", "nothing that is long enough"},
		{"4", "4 is no number of a card 4444", "4 is no number of a card 4444"},
	} {
		if got := card.MaskText(c.text, secret.New(c.own)); got != c.want {
			t.Errorf("%q in %q: got %q, want %q", c.own, c.text, got, c.want)
		}
	}
}

// TestMaskTextIsComplete: in any text, nothing is found after it was masked, and its length stays.
func TestMaskTextIsComplete(t *testing.T) {
	t.Parallel()
	part := rapid.OneOf(
		rapid.SampledFrom([]string{
			"4111", "1111", "4111111111111111", " ", "-", "x", "378282246310005", "é",
			"5555555555554444",
		}),
		rapid.StringMatching(`[0-9 -]{0,6}`))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "text"), "")
		own := secret.New("4111111111111111")
		got := card.MaskText(text, own)
		if from, to, found := card.InText(got, own); found || len(got) != len(text) {
			t.Errorf("%q became %q, with a number at %d to %d: %v", text, got, from, to, found)
		}
	})
}

// TestTextsOfMachinesPass: ids, fingerprints and times are hardly ever taken for card numbers.
func TestTextsOfMachinesPass(t *testing.T) {
	t.Parallel()
	const tries = 20_000
	at := clock.NewFake(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
	ids := id.NewGenerator(at)
	found := map[string]int{}
	for i := range tries {
		at.Advance(8 * time.Hour) // for 18 years
		n := ids.Next()
		var random [16]byte
		_, _ = rand.Read(random[:]) // it never fails
		random[6], random[8] = random[6]&0x0f|0x40, random[8]&0x3f|0x80
		text := hex.EncodeToString(random[:])
		for kind, text := range map[string]string{
			"id":           id.Format(id.Transaction, n),
			"decimal id":   fmt.Sprint(n),
			"random":       text,
			"UUID":         text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:],
			"milliseconds": fmt.Sprint(at.Now().UnixMilli()),
			"nanoseconds":  fmt.Sprint(at.Now().UnixNano() + int64(i)),
			"telephone":    fmt.Sprintf("+4917%09d", i*7919),
			"digits":       fmt.Sprintf("4917%09d", i*7919),
			"RFC 3339":     at.Now().Format(time.RFC3339Nano),
		} {
			if _, _, is := card.InText(text); is {
				found[kind]++
			}
		}
	}
	for kind, n := range found {
		if kind != "UUID" && kind != "random" || n > 2 {
			t.Errorf("%s: %d of %d are taken for card numbers", kind, n, tries)
		}
	}
}
