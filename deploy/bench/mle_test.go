package bench_test

import (
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/bench"
)

func TestReadBenchmark(t *testing.T) {
	t.Parallel()
	const head = "goos: linux\ncpu: AMD EPYC\n"
	for _, c := range []struct {
		line, reported string
		elapsed        time.Duration
		cpu            float64
	}{
		{
			"BenchmarkUnwrap/ECDH-ES+A256KW/engine-2  \t 12613\t 47541 ns/op\t 48953 cpu-ns/op\t 9 B/op", "cpu-ns/op",
			47541 * time.Nanosecond, 48953e-9,
		},
		{
			"BenchmarkAuthorize/bare-2 \t 12613\t 47541 ns/op\t 40001 p50-ns/op\t 9 B/op", "p50-ns/op",
			40001 * time.Nanosecond, 0,
		},
	} {
		elapsed, cpu, err := bench.ReadBenchmark(head+c.line+"\nPASS\n", c.reported)
		if err != nil || elapsed != c.elapsed || cpu != c.cpu {
			t.Errorf("%s: got %v, %v, %v, want %v and %v", c.line, elapsed, cpu, err, c.elapsed, c.cpu)
		}
	}
	for _, out := range []string{
		"", "PASS\n", "BenchmarkUnwrap 1 x ns/op 1 cpu-ns/op\n", "Benchmark 1 5 ns/op\n", "B 1 1.1.1 ns/op 1 cpu-ns/op",
		"B 1 5 cpu-ns/op", "B 1 5 ns/op 6 p50-ns/op",
	} {
		if elapsed, cpu, err := bench.ReadBenchmark(out, "cpu-ns/op"); err == nil {
			t.Errorf("%q: got %v, %v, want an error", out, elapsed, cpu)
		}
	}
}
