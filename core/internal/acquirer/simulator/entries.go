package simulator

import (
	"bytes"
	"fmt"
)

// Entries reads what a journal remembers as a book is to know it: for a service that has had the one and goes on with the other. Nobody may have
// the journal open.
func Entries(path string) ([]Entry, error) {
	var order []key
	known := map[key]Entry{}
	put := func(k key, change func(*Entry)) {
		e, there := known[k]
		if !there {
			e.Key, order = k.name(), append(order, k)
		}
		change(&e)
		known[k] = e
	}
	for _, segment := range []string{path + ".1", path} {
		lines, err := readIfThere(segment)
		if err != nil {
			return nil, fmt.Errorf("simulator: journal: %w", err)
		}
		lines = lines[:bytes.LastIndexByte(lines, '\n')+1] // a killed process may have left a part of one
		for line := range bytes.Lines(lines) {
			line = bytes.TrimSuffix(line, []byte{'\n'})
			e, ok := parseLine(line)
			if !ok {
				continue
			}
			put(e.id.key(), func(to *Entry) { to.Line = string(line) })
			if e.voids() {
				put(digest(e.authorization).key(), func(to *Entry) { to.Voided = true })
			}
		}
	}
	out := make([]Entry, len(order))
	for i, k := range order {
		out[i] = known[k]
	}
	return out, nil
}
