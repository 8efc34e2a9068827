package bench_test

import (
	"maps"
	"testing"

	"github.com/causeway-pay/causeway/deploy/bench"
)

func TestReadBenchmark(t *testing.T) {
	t.Parallel()
	got, err := bench.ReadBenchmark([]byte("goos: linux\ncpu: AMD EPYC\n" +
		"BenchmarkUnwrap/ECDH-ES+A256KW/engine-2  \t 12613\t 47541 ns/op\t 48953 cpu-ns/op\nPASS\n"))
	if want := map[string]float64{"ns/op": 47541, "cpu-ns/op": 48953}; err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for _, out := range []string{"", "PASS\n", "BenchmarkUnwrap 1 x ns/op\n", "Benchmark 1\n"} {
		if got, err := bench.ReadBenchmark([]byte(out)); err == nil {
			t.Errorf("%q: got %v, want an error", out, got)
		}
	}
}
