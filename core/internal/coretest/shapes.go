package coretest

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the shapes of new and changed statements")

// shapesFile holds the shape of each statement of the store, for the tests of its engines.
const shapesFile = "../testdata/statements"

// ReadShapes reads the numbers of parameters and of columns of each statement of the store.
func ReadShapes(tb testing.TB, file string) map[string][2]int {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	shapes := map[string][2]int{}
	for line := range strings.Lines(string(text)) {
		var name string
		var s [2]int
		if _, err := fmt.Sscan(line, &name, &s[0], &s[1]); err != nil {
			tb.Fatalf("%s: %q: %v", file, line, err)
		}
		shapes[name] = s
	}
	return shapes
}

// WantShapes compares the statements of an engine with the file that all engines share. An engine
// may lack some of them. -1 means an unknown number.
func WantShapes(tb testing.TB, got map[string][2]int) {
	tb.Helper()
	want := ReadShapes(tb, shapesFile)
	for name, s := range got {
		if s[1] < 0 {
			s[1] = want[name][1]
		}
		if want[name] != s && *update {
			want[name] = s
		}
		if want[name] != s {
			tb.Errorf("%s: got %d parameters and %d columns, want %v", name, s[0], s[1], want[name])
		}
	}
	if !*update {
		return
	}
	lines := make([]string, 0, len(want))
	for name, s := range want {
		lines = append(lines, fmt.Sprintln(name, s[0], s[1]))
	}
	slices.Sort(lines)
	if err := os.WriteFile(shapesFile, []byte(strings.Join(lines, "")), 0o600); err != nil {
		tb.Error(err)
	}
}
