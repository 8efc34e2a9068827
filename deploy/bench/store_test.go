package bench_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/deploy/bench"
)

func TestRemoveFilledLeavesWhatCanBeUsed(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	for _, name := range []string{"bench-filled-old-500", "bench-filled-new-500", "bench-filled-new-900", "bench-1234", "bin"} {
		if err := os.MkdirAll(filepath.Join(parent, name, "data"), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	if err := bench.RemoveFilled(parent, "new", filepath.Join(parent, "bench-filled-new-900")); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range left {
		got = append(got, e.Name())
	}
	if want := []string{"bench-1234", "bench-filled-new-500", "bin"}; !slices.Equal(got, want) {
		t.Errorf("left: got %v, want %v", got, want)
	}
}

func TestNoStoreIsNotUsable(t *testing.T) {
	t.Parallel()
	if ok, err := bench.Usable(t.Context(), filepath.Join(t.TempDir(), "data"), 100); ok || err != nil {
		t.Errorf("got %t, %v", ok, err)
	}
}

func TestRowCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{12: "12", 10_000: "10 k", 999_000: "999 k", 2_500_000: "2.5 M", 10_000_000: "10 M"} {
		if got := bench.RowCount(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}
