package failover_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestReference compares the values in the files of deploy/on/patroni with the table in its README,
// in both directions.
func TestReference(t *testing.T) {
	t.Parallel()
	folder := filepath.Dir(reference)
	want, explained := map[string]bool{}, map[string]bool{}
	collect := func(into map[string]bool, file, pattern string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			into[found[1]] = true
		}
	}
	collect(want, "patroni.yaml", `\$\{([A-Z_]+)\}`)
	collect(want, "etcd.conf.yaml", `\$\{([A-Z_]+)\}`)
	rows := map[string]bool{}
	collect(rows, "README.md", "(?m)^\\| ((?:`[A-Z_]+`(?:, )?)+) \\|")
	for row := range rows {
		for _, name := range regexp.MustCompile("`([A-Z_]+)`").FindAllStringSubmatch(row, -1) {
			explained[name[1]] = true
		}
	}
	got, all := slices.Sorted(maps.Keys(explained)), slices.Sorted(maps.Keys(want))
	if !slices.Equal(got, all) {
		t.Errorf("README.md lists %v; the files need %v", got, all)
	}
}
