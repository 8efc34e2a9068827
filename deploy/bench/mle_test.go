package bench_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench"
)

func TestReadBenchmark(t *testing.T) {
	t.Parallel()
	elapsed, cpu, err := bench.ReadBenchmark("goos: linux\ncpu: AMD EPYC\n" +
		"BenchmarkUnwrap/ECDH-ES+A256KW/engine-2  \t 12613\t 47541 ns/op\t 48953 cpu-ns/op\nPASS\n")
	if want := 47541 * time.Nanosecond; err != nil || elapsed != want || cpu != 48953e-9 {
		t.Errorf("got %v, %v, %v, want %v and 48953e-9", elapsed, cpu, err, want)
	}
	for _, out := range []string{
		"", "PASS\n", "BenchmarkUnwrap 1 x ns/op 1 cpu-ns/op\n", "Benchmark 1 5 ns/op\n", "B 1 1.1.1 ns/op 1 cpu-ns/op",
	} {
		if elapsed, cpu, err := bench.ReadBenchmark(out); err == nil {
			t.Errorf("%q: got %v, %v, want an error", out, elapsed, cpu)
		}
	}
}
