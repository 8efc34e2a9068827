package goldentest

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/id"
)

// Update is the flag -update.
var Update = flag.Bool("update", false, "write the golden files")

// Today is the day of every golden case.
var Today = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// Run runs every case under testdata, side by side.
func Run(t *testing.T, run func(t *testing.T, dir string)) {
	t.Helper()
	cases, err := filepath.Glob("testdata/*/case.json")
	if err != nil || len(cases) == 0 {
		t.Fatalf("got %d cases, error %v", len(cases), err)
	}
	for _, path := range cases {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			run(t, dir)
		})
	}
}

// Case reads testdata/<case>/case.json into s, which must have all of its members.
func Case(t *testing.T, path string, s any) {
	t.Helper()
	if err := json.Unmarshal(MustRead(t, path), s, json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// Compare holds got to a golden file, or writes it with -update.
func Compare(t *testing.T, path string, got []byte) {
	t.Helper()
	if *Update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := MustRead(t, path); !bytes.Equal(got, want) {
		t.Errorf("%s:\ngot  %s\nwant %s", path, got, want)
	}
}

var decimalID = regexp.MustCompile(`\b(txn|re|cap|cus|pm|addr|day):([0-9]+)`)

// WithIDs writes out the ids that a case gives as "txn:123".
func WithIDs(s string) string {
	return decimalID.ReplaceAllStringFunc(s, func(m string) string {
		prefix, number, _ := strings.Cut(m, ":")
		full, err := id.Decimal(id.Prefix(prefix), number)
		if err != nil {
			return m
		}
		return full
	})
}

// MustRead returns the content of a file.
func MustRead(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
