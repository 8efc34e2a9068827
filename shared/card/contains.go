package card

// Contains reports whether text contains a card number as consecutive digits: one with a brand's
// leading digits, length and check digit. Other digits may stand directly before and after it.
// InText is for texts that people write.
func Contains(text string) bool {
	run := 0 // digits directly before text[i]
	for i := range len(text) + 1 {
		if i < len(text) && text[i] >= '0' && text[i] <= '9' {
			run++
			continue
		}
		if run >= MinDigits && numberIn(text[i-run:i]) {
			return true
		}
		run = 0
	}
	return false
}

// numberIn reports whether any part of a run of digits is a card number.
func numberIn(run string) bool {
	for from := 0; from+MinDigits <= len(run); from++ {
		for to := from + MinDigits; to <= min(from+MaxDigits, len(run)); to++ {
			if known(run[from:to]) {
				return true
			}
		}
	}
	return false
}

// known reports whether a number has a brand's leading digits, length and check digit.
func known(text string) bool {
	if !valid(text) {
		return false
	}
	brand := brandOf(text)
	return brand != Unknown && brand.fits(len(text))
}
