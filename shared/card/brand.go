package card

import "github.com/causeway-pay/causeway/shared/secret"

// Brand is the payment network whose rules a card follows, in one lower-case word.
type Brand string

// The brands. Unknown stands for every number outside of the ranges here.
const (
	Amex       Brand = "amex"
	Diners     Brand = "diners"
	Discover   Brand = "discover"
	JCB        Brand = "jcb"
	Maestro    Brand = "maestro"
	Mastercard Brand = "mastercard"
	UnionPay   Brand = "unionpay"
	Unknown    Brand = "unknown"
	Visa       Brand = "visa"
)

// length is how many digits a number has, at least and at most, in steps.
type length struct{ least, most, step int }

var lengths = map[Brand]length{
	Amex:       {15, 15, 1},
	Diners:     {14, 19, 1},
	Discover:   {16, 19, 1},
	JCB:        {16, 19, 1},
	Maestro:    {12, 19, 1},
	Mastercard: {16, 16, 1},
	UnionPay:   {16, 19, 1},
	Unknown:    {MinDigits, MaxDigits, 1},
	Visa:       {13, 19, 3},
}

// issuers is a range of issuer identification numbers: those whose first digits, read as a number,
// lie between from and to.
type issuers struct {
	brand    Brand
	digits   int // of from and to
	from, to int
}

// ranges do not overlap, so their order has no meaning. They are the brands' ranges as of 2025.
// Cards of China UnionPay that Discover's network takes in the Americas are UnionPay here.
var ranges = [...]issuers{
	{Visa, 1, 4, 4},
	{Mastercard, 2, 51, 55},
	{Mastercard, 4, 2221, 2720},
	{Amex, 2, 34, 34},
	{Amex, 2, 37, 37},
	{Discover, 4, 6011, 6011},
	{Discover, 3, 644, 649},
	{Discover, 2, 65, 65},
	{Diners, 3, 300, 305},
	{Diners, 2, 36, 36},
	{Diners, 2, 38, 39},
	{JCB, 4, 3088, 3088},
	{JCB, 4, 3528, 3589},
	{UnionPay, 2, 62, 62},
	{UnionPay, 2, 81, 81},
	{Maestro, 4, 5018, 5018},
	{Maestro, 4, 5020, 5020},
	{Maestro, 4, 5038, 5038},
	{Maestro, 4, 5893, 5893},
	{Maestro, 4, 6304, 6304},
	{Maestro, 4, 6759, 6759},
	{Maestro, 4, 6761, 6763},
}

// BrandOf returns the brand of a number by its leading digits alone; the rest may be missing or
// wrong.
func BrandOf(number secret.String) Brand {
	return brandOf(number.Reveal())
}

func brandOf(text string) Brand {
	for i := range ranges {
		if r := &ranges[i]; r.has(text) {
			return r.brand
		}
	}
	return Unknown
}

func (r *issuers) has(text string) bool {
	if len(text) < r.digits || !digits(text[:r.digits]) {
		return false
	}
	n := 0
	for i := range r.digits {
		n = n*10 + int(text[i]-'0')
	}
	return n >= r.from && n <= r.to
}

// FitsNumber reports whether the brand has numbers as long as this one.
func (b Brand) FitsNumber(number secret.String) bool {
	return b.fits(number.Len())
}

// fits reports whether the brand has numbers of n digits.
func (b Brand) fits(n int) bool {
	l := lengths[b]
	return l.step > 0 && n >= l.least && n <= l.most && (n-l.least)%l.step == 0
}

// lengthSet has a bit for each length from MinDigits to MaxDigits.
type lengthSet uint8

func (l lengthSet) has(n int) bool { return n >= MinDigits && l>>(n-MinDigits)&1 == 1 }

// lengthTable has the lengths of numbers by their first four digits, read as hexadecimal digits.
type lengthTable [1 << 16]lengthSet

// of returns the lengths for the symbols of a number.
func (t *lengthTable) of(digits []byte) lengthSet {
	var prefix uint16
	for _, c := range digits[:prefixDigits] {
		prefix = prefix<<4 | uint16(c&0xf)
	}
	return t[prefix]
}

// likelyLengths are the lengths that card numbers in free texts have. InText names the lengths that
// it lacks.
var likelyLengths = newLikelyLengths()

func newLikelyLengths() *lengthTable {
	out := new(lengthTable)
	for _, r := range ranges {
		from, to := r.from, r.to
		for range prefixDigits - r.digits {
			from, to = 10*from, 10*to+9
		}
		first := from / 1000
		var set lengthSet
		for n := MinDigits; n <= MaxDigits; n++ {
			oldVisa := n == 13 && first == 4
			decimalID := n == MaxDigits && (first == 3 || first == 4)
			if r.brand.fits(n) && !oldVisa && !decimalID {
				set |= 1 << (n - MinDigits)
			}
		}
		for p := from; p <= to; p++ {
			out[p/1000<<12|p/100%10<<8|p/10%10<<4|p%10] = set
		}
	}
	return out
}

// FitsCode reports whether code can be the security code (CVC) of a card of the brand: three
// digits, or four for American Express. For Maestro, whose issuers differ, and for Unknown it
// accepts three or four.
func (b Brand) FitsCode(code secret.String) bool {
	n := code.Len()
	if !digits(code.Reveal()) {
		return false
	}
	switch b {
	case Amex:
		return n == 4
	case Maestro, Unknown:
		return n == 3 || n == 4
	default:
		return n == 3
	}
}
