package bench_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/deploy/bench"
)

var update = flag.Bool("update", false, "write the golden files")

func TestPrint(t *testing.T) {
	t.Parallel()
	r := bench.Report{
		Machine: []string{"2 cores", "5 rounds"},
		Rows: []bench.Row{
			{
				ID: "P1", What: "POST ÷ bare loop", Absolute: "11,200/s ÷ 24,900/s", Value: 0.4198, Reach: 0.45,
				Spread: [2]float64{0.41, 0.5},
			},
			{
				ID: "P2", What: "the same ÷ another", Absolute: "11,200/s ÷ 3,000/s", Value: 3.73, Reach: 2.5,
				Spread: [2]float64{3, 4},
			},
			{
				ID: "P3", What: "p50 ÷ p50", Absolute: "0.25 ms ÷ 0.08 ms", Value: 3.1, Reach: 2, AtMost: true,
				Spread: [2]float64{3, 3.5},
			},
			{ID: "P8", What: "start", Absolute: "median of 10", Value: 39.4, Unit: "ms", Reach: 100, AtMost: true},
			{ID: "P9", What: "not measured", Failure: "core is not ready after 10s:\nconnection refused"},
		},
	}
	var b strings.Builder
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "table.txt")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		row  bench.Row
		want string
	}{
		{bench.Row{Value: 0.45, Reach: 0.45}, "met"},
		{bench.Row{Value: 0.44, Reach: 0.45}, "short"},
		{bench.Row{Value: 2, Reach: 2, AtMost: true}, "met"},
		{bench.Row{Value: 2}, ""},
		{bench.Row{Failure: "no server", Reach: 2, AtMost: true}, "failed"},
		{bench.Row{Value: 2.01, Reach: 2, AtMost: true}, "short"},
	} {
		if got := c.row.Verdict(); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.row, got, c.want)
		}
	}
}

// TestAFailedMeasurementLosesNoRow: every measurement runs, even after a failed one.
func TestAFailedMeasurementLosesNoRow(t *testing.T) {
	t.Parallel()
	report := newBench(t).MeasureAll(nil, errors.New("the server is gone"), nil)
	var got []string
	for _, r := range report.Rows {
		got = append(got, r.ID+" "+r.Verdict())
	}
	if want := []string{"X0 ", "X1 ", "X1 failed", "X2 "}; !slices.Equal(got, want) || !report.Failed() {
		t.Errorf("got %q, failed %t, want %q", got, report.Failed(), want)
	}
}
