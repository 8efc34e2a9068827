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
		"4111  1111 1111 1111":                    "XXXX  XXXX XXXX 1111",
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
		"4111_1111_1111_1111":                     "XXXX_XXXX_XXXX_1111",
		"4111.1111.1111.1111":                     "XXXX.XXXX.XXXX.1111",
		"4111\u00a01111\u00a01111\u00a01111":      "XXXX\u00a0XXXX\u00a0XXXX\u00a01111",
		"4111\u20111111\u20111111\u20111111":      "XXXX\u2011XXXX\u2011XXXX\u20111111",
		"4111\u00b71111\u00b71111\u00b71111":      "XXXX\u00b7XXXX\u00b7XXXX\u00b71111",
		"4111\r\n1111\r\n1111\r\n1111":            "XXXX\r\nXXXX\r\nXXXX\r\n1111",
		"é ４１１１１１１１１１１１１１１１":                      "é XXXXXXXXXXXX１１１１",
		"４２４２４２４２４２４２４２４２ 4242 4242 4242":      "XXXXXXXXXXXX４２４２ 4242 4242 4242",
		"4111\u00ad1111\u00ad1111\u00ad1111":   "XXXX\u00adXXXX\u00adXXXX\u00ad1111",
		keycap("4242424242424242"):             keycap("XXXXXXXXXXXX4242"),
		"4111\u034f1111\u31641111\u03321111":   "XXXX\u034fXXXX\u3164XXXX\u03321111",
		"\u0664\u0661\u0661\u0661111111111111": "XXXXXXXXXXXX1111",
		"v4111.1111.1111.1111":                 "v4111.1111.1111.1111",
		"1764.3303/2026.1128 10.0.0.1":         "1764.3303/2026.1128 10.0.0.1",
		"":                                     "",
	} {
		got := card.MaskText(text)
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		if card.InText(got) {
			t.Errorf("%q: a number is left", got)
		}
	}
}

// TestMaskTextOfTables: groups of a printed card are found with the separators of tables and lists.
// Lists of numbers in other groups are not.
func TestMaskTextOfTables(t *testing.T) {
	t.Parallel()
	for _, separator := range []string{
		"  ", "\t\t", "\n\n", "    ", ",", ", ", " , ", ":", ": ", "|", " | ", "\t|\t", " - ", ". ",
		" \u2013 ", " \u2022 ", "\u00a0\u00a0", ",\r\n", "\uff0c",
	} {
		for groups, want := range map[string]string{
			"4111 1111 1111 1111":     "XXXX XXXX XXXX 1111",
			"3782 822463 10005":       "XXXX XXXXXX X0005",
			"5555 5555 5555 4444":     "XXXX XXXX XXXX 4444",
			"3056 930902 5904":        "", // 4-6-4 is printed with one space or hyphen only
			"6759 6498 2643 8453":     "XXXX XXXX XXXX 8453",
			"6212 3456 7890 0000 003": "",
			"4111 1111 1111 1112":     "",
			"9111 1111 1111 1118":     "",
			"41111 1111 1111 111":     "",
			"411111 1111 111111":      "",
			"4111 1111 1111 1111a":    "",
			"a4111 1111 1111 1111":    "",
		} {
			text := "no. " + strings.ReplaceAll(groups, " ", separator) + " of 2"
			masked := "no. " + strings.ReplaceAll(want, " ", separator) + " of 2"
			if want == "" {
				masked = text
			}
			if got := card.MaskText(text); got != masked {
				t.Errorf("%q: got %q, want %q", text, got, masked)
			}
		}
	}
}

// TestHonestTextsPass: numbers of orders, telephones, dates and addresses in lists and tables are
// no card numbers.
func TestHonestTextsPass(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"orders 4711, 4712, 4713 and 4714", "2023, 2024, 2025, 2026", "2023|2024|2025|2026",
		"1000  2000  3000  4000", "4111, 1111: 1111, 1111", "4111,1111|1111,1111", "4111 1111, 1111 1111",
		"4111, , 1111, 1111, 1111", "4111||1111||1111||1111", "4111 -- 1111 -- 1111 -- 1111", "4111;1111;1111;1111",
		"4,111,111,111,111,111", "4.111.111.111.111,11", "tel. 0043 1 4000 1234, 0043 1 4000 1235",
		"+43 4212 4212, 4212", "+1 (555) 555-5555, +1 (555) 555-4444", "2026-11-28 08:00, 2026-11-28 09:00",
		"08:00 | 09:30 | 11:15 | 13:45", "AT48 3200 0000 1234 5864", "DE89 3704 0044 0532 0130 00",
		"192.168.111.111, 10.0.0.1", "2001:0db8:0000:0000:0000:ff00:0042:8329", "52.5200, 13.4050",
		"4111 m\u00b2, 1111 m\u00b3", "<td>4711</td><td>4712</td><td>4713</td><td>4714</td>",
		"4111 < 1111 and 1111 > 111", "a<b>5, c>4111, 1111", "10\u2074 111, 2\u00b3",
		"\u2460 4111 \u2461 1111 \u2462 1111 \u2463 1111", "4 242 424 242 424 242", "[4111] [1111] 2",
		"<i>41111111>11111111</i>",
	} {
		if card.InText(text) || card.MaskText(text) != text {
			t.Errorf("%q: got %q", text, card.MaskText(text))
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
		{"4111111111111111", "4111/1111/1111/1111", "XXXX/XXXX/XXXX/1111"},
		{"4111111111111111", "4111.\n1111\u00a01111__1111", "XXXX.\nXXXX\u00a0XXXX__1111"},
		{"4111111111111111", "4111,1111: 1111|1111", "XXXX,XXXX: XXXX|1111"},
		{"4111111111111111", "4111\u00ad1111\u200b11111111", "XXXX\u00adXXXX\u200bXXXX1111"},
		{"4111111111111111", "\u0664111111111111111 \U0001d7dc111111111111111", "XXXXXXXXXXXX1111 XXXXXXXXXXXX1111"},
		{"411111111111", "4111\u22121111\u22121111", "XXXX\u2212XXXX\u22121111"},
		{"9111111111111118", "９111111111111118", "XXXXXXXXXXXX1118"},
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
		if found := card.InText(got, own); found || len(got) != len(text) {
			t.Errorf("%q became %q, with a number: %t", text, got, found)
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
			if card.InText(text) {
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

// TestMaskTextInAnySpelling: the same digits are masked with other digits, space and dashes.
func TestMaskTextInAnySpelling(t *testing.T) {
	t.Parallel()
	others := map[byte][]string{
		' ': {"\u00a0", "\u2009", "\t", "\n", "\r\n"},
		'-': {"\u2011", "\u2013", "\u2212", ".", "/", "_"},
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SampledFrom([]string{
			"4111", "1111", "4242", "4111111111111111", "3782", "822463", "10005", " ", "-", "x", "é",
		})
		text := strings.Join(rapid.SliceOfN(parts, 0, 14).Draw(t, "text"), "")
		own := secret.New(rapid.SampledFrom([]string{"", "9111111111111118", "4242111142421111"}).Draw(t, "own"))
		masked := card.MaskText(text, own)
		var spelled, want strings.Builder
		for i := range len(text) {
			from, to := text[i:i+1], masked[i:i+1]
			switch c := text[i]; {
			case others[c] != nil && rapid.Bool().Draw(t, "another separator"):
				from = rapid.SampledFrom(others[c]).Draw(t, "separator")
				to = from
			case c >= '0' && c <= '9' && rapid.Bool().Draw(t, "fullwidth"):
				from, to = string('０'+rune(c-'0')), map[bool]string{true: "X", false: string('０' + rune(c-'0'))}[masked[i] == 'X']
			}
			spelled.WriteString(from)
			want.WriteString(to)
		}
		if got := card.MaskText(spelled.String(), own); got != want.String() {
			t.Errorf("%q: got %q, want %q", spelled.String(), got, want.String())
		}
		if card.InText(want.String(), own) {
			t.Errorf("%q: a number is left", want.String())
		}
		if got, want := card.InText(spelled.String(), own), card.InText(text, own); got != want {
			t.Errorf("%q: got %t", spelled.String(), got)
		}
	})
}

// keycap returns a text with the marks of a key around each character.
func keycap(text string) string {
	return strings.ReplaceAll(text, "", "\ufe0f\u20e3")[len("\ufe0f\u20e3"):]
}
