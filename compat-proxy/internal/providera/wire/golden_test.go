package wire_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

var update = flag.Bool("update", false, "write what the code gives to the golden files")

// TestGolden reads every example request of the contract and renders every example response. The
// folder's name is the case. tree.txt holds the names of the parsed tree.
func TestGolden(t *testing.T) {
	t.Parallel()
	docs := documents()
	for _, name := range goldenCases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("testdata", name)
			ext := ".xml"
			if strings.HasPrefix(name, "j") {
				ext = ".json"
			}
			body, err := os.ReadFile(filepath.Join(dir, "request"+ext))
			if err != nil {
				t.Fatal(err)
			}
			req, fault := wire.Parse(body, wire.Options{})
			if fault != nil {
				golden(t, filepath.Join(dir, "response"+ext), fault.Bytes())
				return
			}
			golden(t, filepath.Join(dir, "tree.txt"), []byte(req.Root.String()+"\n"))
			golden(t, filepath.Join(dir, "response"+ext), docs[name].Bytes(req.Format))
		})
	}
}

// goldenCases returns the names of the case folders.
func goldenCases(tb testing.TB) []string {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "[jx][0-9]*"))
	if err != nil || len(paths) < 16 {
		tb.Fatalf("golden cases: %d, %v", len(paths), err)
	}
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = filepath.Base(p)
	}
	return names
}

// golden compares got with a file, or writes it with -update.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s\n got %q\nwant %q", path, got, want)
	}
}
