package coretest

import (
	"os"
	"strconv"
)

// Races returns how often a test repeats each of its races: CAUSEWAY_RACES, or otherwise if it is
// not set.
func Races(otherwise int) int {
	text := os.Getenv("CAUSEWAY_RACES")
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		panic("CAUSEWAY_RACES is not a count: " + text)
	}
	return n
}
