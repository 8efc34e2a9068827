package card_test

import (
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/card"
)

// layers makes InText decode a text as often as it can.
const layers = "&amp;amp;amp;amp;amp;"

// both makes InText read a text with and without its tags, and with and without its shapes.
const both = layers + "<b>\u2460\u00ad "

// worstTexts are as long as the body of a request. They contain no card number, so all of each one
// is read.
var worstTexts = []struct{ name, text string }{
	{"letters", filled("", "a")},
	{"accents", filled("", "é")},
	{"ideographs in layers", filled(layers+"4111 1111 1111 ", "漢")},
	{"digits", filled("", "4")},
	{"digits in layers", filled(both, "4")},
	{"single digits in layers", filled(both, "4-1 ")},
	{"groups", filled("", "4111 ")},
	{"groups in a table", filled("", "4111 | ")},
	{"groups in layers", filled(layers, "4111 ")},
	{"groups in all layers", filled(both, "4111 ")},
	{"groups in tags", filled(layers, "<b>4111</b> ")},
	{"groups of 19", filled(both, "6212 3456 7890 0000 001 ")},
	{"groups far apart", filled(both, "4111          ")},
	{"numbers in layers", filled(both, "9111111111111118 ")},
	{"wrong numbers in layers", filled(both, "4242424242424241,")},
	{"own digits in layers", filled(both, "41111111111-")},
	{"mathematical digits", filled("", "\U0001D7FF")},
	{"mathematical digits in layers", filled(both, "\U0001D7FF")},
	{"fullwidth groups in layers", filled(both, "４１１１　")},
	{"fullwidth dots in layers", filled(both, "４．")},
	{"script digits in layers", filled(both, "٤١١١\u00a0")},
	{"shapes in layers", filled(layers, "\u2788")},
	{"shapes in groups", filled(both, "41\u2460\u2460 ")},
	{"combining marks in layers", filled(both, "4\u0301")},
	{"soft hyphens in layers", filled(both, "4\u00ad")},
	{"broken characters in layers", filled(both, "4\xe2\x80")},
	{"tags in layers", filled(layers+"411111111111.", "<>")},
	{"open tags in layers", filled(layers+"411111111111.", "<")},
	{"digits in tags", filled(both, "4<1>")},
	{"percent in layers", filled(layers+`411111111111.\\`, "%é")},
	{"percent and digits", filled(layers, "%4 ")},
	{"escaped digits", filled(layers, "%34")},
	{"nested percent", "%" + filled("", "25")},
	{"open percent", filled("%33411111111111111", "%")},
	{"escaped spaces", filled(layers, "4111%20")},
	{"ands in layers", filled(layers+`411111111111.%\\`, "&ab")},
	{"wrong entities", filled(layers+`411111111111.%\\`, "&abcdef")},
	{"wrong entities that end", filled(layers+`411111111111.%\\`, "&ab;")},
	{"named entities", filled(layers, "4&gt;")},
	{"named entities in each other", filled(layers, "&amp;amp;amp;lt;")},
	{"number entities", filled(layers, "&#52;")},
	{"number entities in each other", filled(layers, "&amp;amp;amp;#52;")},
	{"wrong number entities", filled(layers, "&#4")},
	{"backslashes", filled(layers+"411111111111.%", `\`)},
	{"escapes in JSON", filled(layers, `\u0034`)},
	{"escapes in JSON in JSON", filled(layers, `\\\\u0034`)},
	{"line breaks in JSON", filled(layers, `4111\n`)},
	{"wrong escapes in JSON", filled(layers, `\u004 `)},
	{"sums in a URL", filled(layers+"http://", "4111+")},
	{"mixed", filled(both, `4111%201111&#32;１１１<br>\u0034² &nbsp;`)},
}

// filled repeats a unit to a text of 250 kB.
func filled(before, unit string) string {
	return before + strings.Repeat(unit, (250<<10-len(before))/len(unit))
}

// BenchmarkInText reads the worst texts, with the two own numbers that a request can have.
func BenchmarkInText(b *testing.B) {
	own := secrets(printedOwn[1:3])
	for _, worst := range worstTexts {
		b.Run(worst.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				card.InText(worst.text, own...)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(worst.text)), "ns/byte")
		})
	}
}

// BenchmarkMaskText masks the worst texts, and texts that are full of numbers.
func BenchmarkMaskText(b *testing.B) {
	own := secrets(printedOwn[1:3])
	texts := append(worstTexts[:len(worstTexts):len(worstTexts)], []struct{ name, text string }{
		{"numbers", filled("", "4242424242424242,")},
		{"printed numbers", filled("", "4242 4242 4242 4242 ")},
		{"fullwidth numbers", filled("", "４２４２４２４２４２４２４２４２ ")},
		{"own numbers", filled("", "4111-111111114111/")},
		{"escaped numbers", filled("", "%34242424242424242 ")},
	}...)
	for _, worst := range texts {
		b.Run(worst.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				card.MaskText(worst.text, own...)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(worst.text)), "ns/byte")
		})
	}
}
