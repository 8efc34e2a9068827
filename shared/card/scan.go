package card

import "github.com/causeway-pay/causeway/shared/secret"

const shown = 4 // digits of a card number that MaskText keeps

// scanner reads symbols once and finds card numbers in them: own numbers, numbers of brands, or
// both. It stops at the first one or masks all of them. It reads the symbols with their markup tags
// and, at the same time, with a space for each tag. A tag has no angle bracket in it.
type scanner struct {
	symbols []byte
	kinds   *[256]kind
	own     []ownNumber
	brands  bool
	masks   bool // only with kinds that have no brackets

	found bool
	read  int // symbols and groups that were read, with repetitions; tests limit it

	last   packed   // the last digits outside of tags; none before a letter or masked digit
	tagged packed   // the last digits, in tags too
	chains [2]chain // one is the current; in an open tag, the other one is the chain before it
	at     uint     // index of the current chain
	open   bool     // in a tag, if an end of it follows
	before packed   // last at the beginning of the open tag
	maybe  bool     // last was an own number in the open tag: it is none if the tag ends
}

// scan reads all symbols, word by word.
func (s *scanner) scan() {
	s.last, s.tagged = noDigits, noDigits
	for i := 0; i < len(s.symbols) && (s.masks || !s.found); {
		from := i
		i = s.word(s.separator(i))
		s.read += i - from
	}
	s.endChain(&s.chains[0])
	s.endChain(&s.chains[1])
	s.found = s.found || s.maybe
}

// separator reads the symbols before a word and returns where the word begins.
func (s *scanner) separator(from int) (to int) {
	symbols, kinds, gap := s.symbols, s.kinds, s.chain().gap
	for to = from; to < len(symbols); to++ {
		c := symbols[to]
		k := kinds[c]
		if k <= letterKind {
			break
		}
		if k == bracketKind && (c == '<' || s.open) {
			s.chain().gap = gap
			s.bracket(c)
			gap, c, k = s.chain().gap, ' ', spaceKind
			if s.open {
				continue
			}
		}
		gap.length++
		if k != spaceKind {
			gap.broken = gap.broken || k != markKind || gap.mark != ' '
			gap.mark = c
		}
	}
	s.chain().gap = gap
	return to
}

// bracket begins a tag, or ends the open one. Only the last of several beginnings before an end is
// one of a tag.
func (s *scanner) bracket(c byte) {
	s.at ^= 1
	if c == '<' {
		s.found = s.found || s.maybe
		s.endChain(s.chain())
		s.before = s.last
	} else {
		s.last = s.before
	}
	s.open, s.maybe = c == '<', false
}

// chain returns the current chain.
func (s *scanner) chain() *chain { return &s.chains[s.at&1] }

// word reads the letters and digits of a word and returns where it ends.
func (s *scanner) word(from int) (to int) {
	symbols, kinds := s.symbols, s.kinds
	pure := true
	for to = from; to < len(symbols); to++ {
		k := kinds[symbols[to]]
		if k > letterKind {
			break
		}
		pure = pure && k != letterKind
	}
	if to == from {
		return to
	}
	if len(s.own) > 0 {
		s.findOwn(from, to)
	}
	if s.brands {
		s.findOfBrand(from, to, pure)
	}
	return to
}

// findOwn finds the own numbers that end in a word.
func (s *scanner) findOwn(from, to int) {
	last, found := s.ownAfter(s.last, from, to)
	s.maybe = s.maybe || found && s.open
	s.found = s.found || found && !s.open
	if s.tagged == s.last {
		s.tagged = last
	} else {
		s.tagged, found = s.ownAfter(s.tagged, from, to)
	}
	s.last, s.found = last, s.found || found
}

// ownAfter reports whether own numbers end in a word after other digits. It masks them and returns
// the last digits.
func (s *scanner) ownAfter(last packed, from, to int) (now packed, found bool) {
	for i, c := range s.symbols[from:to] {
		k := s.kinds[c]
		if k == letterKind {
			last = noDigits
			continue
		}
		last = last.push(byte(k))
		for j := range s.own {
			if s.own[j].ends(last) {
				found = true
				s.mask(from+i+1, s.own[j].length)
				last = last.only(shown)
			}
		}
	}
	return last, found
}

// findOfBrand finds the numbers of brands that end with a word. A word of few digits can be a group
// of a number.
func (s *scanner) findOfBrand(from, to int, pure bool) {
	c, length := s.chain(), to-from
	if c.gap.broken || !pure || length > longestGroup {
		s.endChain(c)
	}
	first := length == prefixDigits || length >= MinDigits && length <= MaxDigits
	fits := lengthSet(0)
	if pure && first {
		fits = likelyLengths.of(s.symbols[from:])
	}
	if pure && (fits != 0 || c.count > 0) {
		var sum luhnSum
		for _, digit := range s.symbols[from:to] {
			sum = sum.push(digit & 0xf)
		}
		if length <= longestGroup {
			s.join(c, length, sum, fits, to)
		} else if fits.has(length) && sum.valid() {
			s.hit(to, length)
		}
	}
	c.gap = gap{mark: ' '}
}

// hit records that a number was found, and masks it.
func (s *scanner) hit(end, length int) {
	s.found = true
	s.mask(end, length)
}

// mask writes an X for each digit of a number but its last four. The last one is directly before
// end.
func (s *scanner) mask(end, length int) {
	if !s.masks {
		return
	}
	for read := 0; read < length; s.read++ {
		end--
		if !isDigit(s.symbols[end]) {
			continue
		}
		if read++; read > shown {
			s.symbols[end] = 'X'
		}
	}
}

// kind is the role of a symbol in and between card numbers: the value of a digit, or one of these.
type kind byte

const (
	letterKind kind = 10 + iota
	spaceKind
	markKind    // it can stand once in a separator of groups
	otherKind   // it can stand between the digits of own numbers only
	bracketKind // like otherKind, or it begins or ends a tag
)

// The kinds of all symbols. Digits in another shape are digits in the second table only. The third
// one has no tags.
var plainKinds, shapeKinds, maskKinds = newKinds(0, bracketKind), newKinds(shaped, bracketKind), newKinds(0, otherKind)

func newKinds(shape byte, bracket kind) *[256]kind {
	kinds := new([256]kind)
	for i := range kinds {
		if kinds[i] = otherKind; isLetter(byte(i)) {
			kinds[i] = letterKind
		}
	}
	for c := byte('0'); c <= '9'; c++ {
		kinds[c], kinds[c|shape] = kind(c-'0'), kind(c-'0')
	}
	for _, c := range []byte("-,:|") {
		kinds[c] = markKind
	}
	kinds[' '], kinds['<'], kinds['>'] = spaceKind, bracket, bracket
	return kinds
}

// packed are 32 digits of four bits each, the last one lowest. A value above nine is no digit.
type packed struct{ high, low uint64 }

var noDigits = packed{^uint64(0), ^uint64(0)}

// push appends a digit.
func (p packed) push(digit byte) packed {
	return packed{p.high<<4 | p.low>>60, p.low<<4 | uint64(digit)}
}

// only returns the last n digits, fewer than 16.
func (p packed) only(n int) packed { return packed{^uint64(0), ^uint64(0)<<(4*n) | p.low} }

// ownNumber is a number to find wherever it stands.
type ownNumber struct {
	number, mask packed // mask has all bits of the number's digits
	length       int
}

// ownNumbers returns the numbers that can be card numbers.
func ownNumbers(own []secret.String) (out []ownNumber) {
	for _, number := range own {
		text := number.Reveal()
		if len(text) < MinDigits || len(text) > MaxDigits || !digits(text) {
			continue
		}
		o := ownNumber{length: len(text)}
		for i := range len(text) {
			o.number, o.mask = o.number.push(text[i]-'0'), o.mask.push(0xf)
		}
		out = append(out, o)
	}
	return out
}

// ends reports whether the number's digits are the last ones.
func (o *ownNumber) ends(last packed) bool {
	return last.low&o.mask.low == o.number.low && last.high&o.mask.high == o.number.high
}

// isWordByte reports whether words consist of such bytes.
func isWordByte(c byte) bool { return isDigit(c) || isLetter(c) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
