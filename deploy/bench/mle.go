package bench

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// unwrap measures P6: the time of the encryption engine for a request, against Go's primitives on
// the same message. Both sides are benchmarks of mle-filter, since its engine is internal.
func unwrap(b *Bench) {
	program, root := b.path("engine.test"), programtest.MustRoot(b)
	programtest.MustOutput(b, programtest.Command{
		Path: "go", Args: []string{"test", "-c", "-o", program, "./mle-filter/internal/engine"}, Dir: root,
	})
	for _, key := range []struct {
		name, alg string
		reach     float64
	}{{"RSA-2048", "RSA-OAEP-256", 0.95}, {"P-256", "ECDH-ES+A256KW", 0.75}} {
		of := func(what string) side {
			return side{key.name + " " + what, func() sample {
				pattern := "^BenchmarkUnwrap$/^" + regexp.QuoteMeta(key.alg) + "$/^" + what + "$"
				return must(readBenchmark(programtest.MustOutput(b, programtest.Command{
					Path: program, Args: []string{"-test.run=^$", "-test.bench=" + pattern, "-test.benchtime=" + b.Each.String()},
					Dir: filepath.Join(root, "mle-filter", "internal", "engine"),
				})))
			}}
		}
		got := b.interleave(of("engine"), of("bare"))
		b.add(Row{
			ID: "P6", What: "MLE unwrap of 1 KiB ÷ Go's bare primitives, " + key.name, Reach: key.reach,
			Absolute: fmt.Sprintf("%.1f, %.1f µs of processor", 1e6*middle(got[0], byCPU), 1e6*middle(got[1], byCPU)),
		}, ratio(got[1], got[0], byCPU))
	}
}

// benchmarked are the times in the line of a result that go test prints.
var benchmarked = regexp.MustCompile(`\s([0-9.]+) ns/op\s+([0-9.]+) cpu-ns/op`)

// readBenchmark reads the output of go test.
func readBenchmark(out string) (sample, error) {
	times := benchmarked.FindStringSubmatch(out)
	if times == nil {
		return sample{}, fmt.Errorf("a benchmark printed no times: %s", out)
	}
	elapsed, err := strconv.ParseFloat(times[1], 64)
	if err != nil {
		return sample{}, err
	}
	cpu, err := strconv.ParseFloat(times[2], 64)
	return sample{rate: 1e9 / elapsed, p50: time.Duration(elapsed), cpu: cpu / 1e9}, err
}
