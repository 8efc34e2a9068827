package card

const (
	prefixDigits = 4 // the first digits of a number, of which its brand follows; the first group of a printed card
	longestGroup = 6
	mostGroups   = 5
)

// group is a word of at most longestGroup digits.
type group struct {
	end    int // offset of the symbol after it
	sum    luhnSum
	length int
	fits   lengthSet // of the numbers that begin with it, if it has prefixDigits
	mark   byte      // of the separator before it; a space for none
	wide   bool      // whether that separator is neither one space nor one hyphen
}

// chain is the last groups with only separators between them, at most mostGroups. Numbers that
// begin before the first of them were found already.
type chain struct {
	groups [8]group // a ring; the remainder of a power of two is fast
	first  uint     // index of the first group
	count  uint
	gap    gap // after the last group
}

// gap is the symbols between two words. They are a separator if they are spaces with at most one
// mark.
type gap struct {
	length int
	mark   byte // a space for none
	broken bool // it is no separator
}

// wide reports whether it is neither one space nor one hyphen.
func (g gap) wide() bool { return g.length > 1 || g.mark != ' ' && g.mark != '-' }

func (c *chain) at(i uint) *group { return &c.groups[(c.first+i)%uint(len(c.groups))] }

// join appends a group to a chain.
func (s *scanner) join(c *chain, length int, sum luhnSum, fits lengthSet, end int) {
	g := c.at(c.count) // its fields are set one by one, which takes half the time of a copy
	g.end, g.sum, g.length = end, sum, length
	g.fits, g.mark, g.wide = fits, c.gap.mark, c.gap.wide()
	if c.count++; c.count == mostGroups {
		s.readFirst(c)
	}
}

// endChain finds the numbers that begin with each group of a chain, and empties it.
func (s *scanner) endChain(c *chain) {
	for c.count > 0 {
		s.readFirst(c)
	}
}

// readFirst removes the chain's first group. If a number begins with it, it removes all groups of
// the number but the last, of which the digits can begin the next number.
func (s *scanner) readFirst(c *chain) {
	used := uint(1)
	if groups, length := s.printedNumber(c); groups > 0 {
		used = groups - 1
		s.hit(c.at(used).end, length)
	}
	c.first += used
	c.count -= used
}

// printedNumber returns how many groups and digits the card number has that begins with the chain's
// first group, or 0 if none does. All its separators have the same mark.
func (s *scanner) printedNumber(c *chain) (groups uint, digits int) {
	first := c.at(0)
	if first.length != prefixDigits || first.fits == 0 {
		return 0, 0
	}
	layout, wide, mark := prefixDigits, false, c.at(1).mark
	sum, length := first.sum, prefixDigits
	for i := uint(1); i < c.count; i++ {
		s.read++
		g := c.at(i)
		if g.mark != mark {
			break
		}
		wide = wide || g.wide
		length += g.length
		layout = 10*layout + g.length
		sum = sum.join(g.sum, g.length)
		if first.fits.has(length) && sum.valid() && (layout == 4444 || layout == 465 || !wide && printed(layout)) {
			return i + 1, length
		}
		if layout != 46 && layout != 44 && layout != 444 && layout != 4444 {
			break
		}
	}
	return 0, 0
}

// printed reports whether the digits of a card are printed in groups of these sizes, of which each
// is a digit of layout. The groups are 4-6-4, 4-6-5, or fours with a last group of one to four.
func printed(layout int) bool {
	last := layout % 10
	switch layout / 10 {
	case 44, 444, 4444:
		return last >= 1 && last <= 4
	case 46:
		return last == 4 || last == 5
	}
	return false
}
