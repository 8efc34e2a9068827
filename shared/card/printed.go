package card

// printedFirst is the number of digits of the first group of a printed card.
const printedFirst = 4

// numberFrom reports whether a card number begins with the word of digits text[from:to], and where
// it ends.
func (s *search) numberFrom(from, to int) (end int, found bool) {
	if s.read += min(to-from, MaxDigits); likely(s.text[from:to]) {
		return to, true
	}
	if to-from != printedFirst {
		return 0, false
	}
	number := append(make([]byte, 0, MaxDigits), s.text[from:to]...)
	var first byte // the mark of all separators
	layout, wide := printedFirst, false
	for {
		mark, next := s.separator(to)
		if first == 0 {
			first = mark
		}
		if next == to || mark != first {
			return 0, false
		}
		wide = wide || next > to+1 || mark != ' ' && mark != '-'
		group := s.group(next)
		if group == "" || len(number)+len(group) > MaxDigits {
			return 0, false
		}
		number, to = append(number, group...), next+len(group)
		layout = 10*layout + len(group)
		if (layout == 4444 || layout == 465 || !wide && printed(layout)) && likely(string(number)) {
			return to, true
		}
		if layout != 46 && layout != 44 && layout != 444 && layout != 4444 {
			return 0, false
		}
	}
}

// separator returns where the separator ends that begins at text[at]. It is spaces, with at most
// one mark. Without a mark it returns a space for the mark.
func (s *search) separator(at int) (mark byte, end int) {
	mark = ' '
	for end = at; end < len(s.text); end++ {
		switch c := s.at(end); c {
		case ' ':
		case '-', ',', ':', '|':
			if mark != ' ' {
				return mark, end
			}
			mark = c
		default:
			return mark, end
		}
	}
	return mark, end
}

// group returns the word of digits that begins at text[from], or "" if none does.
func (s *search) group(from int) string {
	for to := from; ; to++ {
		if to == len(s.text) || !isWordByte(s.at(to)) {
			return s.text[from:to]
		}
		if !isDigit(s.text[to]) {
			return ""
		}
	}
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
