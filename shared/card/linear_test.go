package card_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
)

// printedOwn are card numbers of a request. The first consists of one digit. The second begins and
// ends with the same four digits.
var printedOwn = []string{"0000000000000000", "4111111111114111", "5555555555554444", "9111111111111118"}

// hostileTexts are repeated to texts of any length. They contain many numbers, or many parts of
// numbers.
var hostileTexts = map[string]string{
	"numbers":             "4242424242424242,",
	"numbers after words": "x 5555 5555 5555 4444 ",
	"printed in a row":    "4242 4242 4242 4242 ",
	"longest printed":     "6212 3456 7890 0000 003 ",
	"digits":              "4",
	"zeros":               "0",
	"digits of own":       "41111111111",
	"single digits":       "4 ",
	"single own digits":   "4-1-1-1-1-1-1-1-1-1-1-1-1-4-1-1-",
	"groups of four":      "4242 ",
	"groups of 4-6":       "3782-822463-",
	"wrong check digit":   "4242424242424241,",
	"wrong last digit":    "4111111111114112,",
	"separators":          "-",
	"spaces and hyphens":  "4 - -- ",
	"letters":             "x",
	"digits and letters":  "4x",
	"own numbers":         "4111111111114111",
	"own in a row":        "411111111111",
	"other own number":    "9111-1111 11111118/",
	"empty words":         ",;",
	"groups in a table":   "4242  |  ",
	"groups in a list":    "4242, ",
	"groups far apart":    "4242" + strings.Repeat(" ", 100),
	"last group missing":  "4242, 4242, 4242" + strings.Repeat(" ", 200),
	"two marks":           "4242 - - ",
	"4-6 in a table":      "3782  822463  ",
}

// TestMaskTextIsLinear: the bytes that are read grow with the length of the text and not faster.
func TestMaskTextIsLinear(t *testing.T) {
	t.Parallel()
	for n := range len(printedOwn) + 1 {
		own := secrets(printedOwn[:n])
		for name, part := range hostileTexts {
			for _, before := range []string{"", "4", "4111111111114111", "4242"} {
				checkLinear(t, fmt.Sprintf("%s, %d own, after %q", name, n, before), before, part, own)
			}
		}
	}
}

// checkLinear repeats a part to a text and to one of four times the length.
func checkLinear(t *testing.T, name, before, part string, own []secret.String) {
	t.Helper()
	const length = 2 << 10
	for _, after := range []string{"", "4242424242424242", "x"} {
		short := card.BytesToMask(before+strings.Repeat(part, length/len(part))+after, own...)
		long := card.BytesToMask(before+strings.Repeat(part, 4*length/len(part))+after, own...)
		if long > 5*short || short > 2*card.MaxDigits*(len(own)+1)*length {
			t.Errorf("%s, before %q: %d bytes are read of %d, and %d of four times as many", name, after, short, length, long)
		}
	}
}

// tested is the length of the worst texts in tests. The benchmarks read all of each one.
const tested = 64 << 10

// TestInTextIsLinear: no text makes InText read its bytes more often than its five forms need. In
// each form, up to two searches read each symbol once and each group up to four times more.
func TestInTextIsLinear(t *testing.T) {
	t.Parallel()
	own := secrets(printedOwn)
	for _, worst := range worstTexts {
		text := worst.text[:tested]
		if n := card.BytesToRead(text, own...); n > 35*len(text) {
			t.Errorf("%s: %d bytes are read of %d", worst.name, n, len(text))
		}
	}
}

// TestInTextAllocatesTwoCopies: the number of allocations does not depend on the text.
func TestInTextAllocatesTwoCopies(t *testing.T) { // not parallel: it counts all allocations
	own := secrets(printedOwn[1:3])
	for _, worst := range worstTexts {
		if n := testing.AllocsPerRun(1, func() { card.InText(worst.text[:tested], own...) }); n > 5 {
			t.Errorf("%s: %v allocations", worst.name, n)
		}
	}
}

// TestInTextStopsAtTheFirstNumber: the rest of the text is not read.
func TestInTextStopsAtTheFirstNumber(t *testing.T) {
	t.Parallel()
	for first, own := range map[string]string{
		"4242424242424242,": "", "x 4242 4242 4242 4242 ": "", "x4111-1111 11114111": printedOwn[1],
	} {
		n, found := card.BytesToFind(strings.Repeat(first, 1000), secret.New(own))
		if !found || n > 3*len(first) {
			t.Errorf("%q: found %t after %d bytes", first, found, n)
		}
	}
}

func secrets(numbers []string) (out []secret.String) {
	for _, number := range numbers {
		out = append(out, secret.New(number))
	}
	return out
}

// TestMaskTextIsMaskingOneByOne: the result is that of masking the first number until there is
// none.
func TestMaskTextIsMaskingOneByOne(t *testing.T) {
	t.Parallel()
	parts := rapid.OneOf(
		rapid.SampledFrom([]string{
			"4111", "1111", "4242", "4444", "111", "11", "0000", "000", "3782", "822463", "10005", "0", "1", " ", "-", ",", ":",
			"é", "x",
			"4111111111111111", "378282246310005", "5555555555554444", "6212 3456 7890 0000 003", "4242 4242 4242 4242",
			"30569309025904", "411111111111", "000000000000",
		}),
		rapid.SampledFrom(printedOwn),
		rapid.StringMatching(`[0-9 -]{0,6}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		between := rapid.SampledFrom([]string{"", "", " ", "-", "  ", ", ", "|", " - "}).Draw(t, "between")
		text := strings.Join(rapid.SliceOfN(parts, 0, 14).Draw(t, "text"), between)
		own := secrets(rapid.SliceOfN(rapid.SampledFrom(printedOwn), 0, 3).Draw(t, "own"))
		if got, want := card.MaskText(text, own...), oneByOne(text, own); got != want {
			t.Errorf("%q with %d own: got %q, want %q", text, len(own), got, want)
		}
	})
	for name, part := range hostileTexts {
		text := strings.Repeat(part, 20)
		if got, want := card.MaskText(text, secrets(printedOwn)...), oneByOne(text, secrets(printedOwn)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// TestOwnThatIsNoNumber: only digits can be masked, so other texts are not searched for.
func TestOwnThatIsNoNumber(t *testing.T) {
	t.Parallel()
	for _, own := range []string{"abcdefghijklmnop", strings.Repeat("4", card.MaxDigits+1), "4111 1111 1111"} {
		if got := card.MaskText("x"+own+"x", secret.New(own)); got != "x"+own+"x" {
			t.Errorf("%q: got %q", own, got)
		}
	}
}
