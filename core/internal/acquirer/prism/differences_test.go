package prism_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// none stands for a field that a side does not have.
const none = "none"

// row explains differences.
type row struct {
	cells                     []string
	where, path, ours, theirs *regexp.Regexp
	used                      bool
}

// table has the rows of one section of differences.md.
type table struct{ rows []*row }

// cells is the number of cells of a row.
const cells = 6

// explained reads the table below a heading.
func explained(t *testing.T, heading string) *table {
	t.Helper()
	text, err := os.ReadFile("differences.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("differences.md has no section %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	out := &table{}
	for line := range strings.Lines(section) {
		parts := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		for i := range parts {
			parts[i] = strings.Trim(strings.TrimSpace(parts[i]), "`")
		}
		if len(parts) == 1 || parts[0] == "where" || strings.HasPrefix(parts[0], "---") {
			continue
		}
		if len(parts) != cells || slices.Contains(parts, "") {
			t.Fatalf("differences.md: %q: want %d cells", line, cells)
		}
		out.rows = append(out.rows, &row{
			cells: parts, where: glob(parts[0] + "*"), path: glob(parts[1]), ours: form(parts[2]), theirs: form(parts[3]),
		})
	}
	return out
}

// form returns the form of a cell: "any" for any value, or a regular expression.
func form(cell string) *regexp.Regexp {
	if cell == "any" {
		cell = ".*"
	}
	return regexp.MustCompile(`^(?s:` + cell + `)$`)
}

// glob returns the form of a cell in which an asterisk stands for any text.
func glob(cell string) *regexp.Regexp {
	return form(strings.ReplaceAll(regexp.QuoteMeta(cell), `\*`, ".*"))
}

// fits reports whether a row has a value. A row for any value does not have an absent one.
func fits(r *row, cell int, form *regexp.Regexp, text string) bool {
	return (r.cells[cell] != "any" || text != none) && form.MatchString(text)
}

// explains reports whether a row explains a difference, and marks the row as used.
func (t *table) explains(where, path, ours, theirs string) bool {
	for _, r := range t.rows {
		same := r.where.MatchString(where) && r.path.MatchString(path)
		if same && fits(r, 2, r.ours, ours) && fits(r, 3, r.theirs, theirs) {
			r.used = true
			return true
		}
	}
	return false
}

// compare reports each difference that no row explains.
func (t *table) compare(tb testing.TB, where, name string, ours, theirs fields) {
	tb.Helper()
	paths := maps.Clone(ours)
	maps.Copy(paths, theirs)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		a, isOurs := ours[path]
		b, isTheirs := theirs[path]
		if isOurs && isTheirs && equal(a, b) {
			continue
		}
		if !isOurs {
			a.text = none
		}
		if !isTheirs {
			b.text = none
		}
		if a.text == b.text {
			a.text, b.text = a.kind+" "+a.text, b.kind+" "+b.text
		}
		if !t.explains(where, path, a.text, b.text) {
			tb.Errorf("%s: %s: %s: ours %q, theirs %q: want the same, or a row in differences.md",
				where, name, path, a.text, b.text)
		}
	}
}

// checkUsed reports each row that explains nothing.
func (t *table) checkUsed(tb testing.TB) {
	tb.Helper()
	for _, r := range t.rows {
		if !r.used {
			tb.Errorf("differences.md: no difference needs the row %q", r.cells)
		}
	}
}
