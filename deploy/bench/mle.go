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
				}), "cpu-ns/op"))
			}}
		}
		got := b.interleave(of("engine"), of("bare"))
		b.add(Row{
			ID: "P6", What: "MLE unwrap of 1 KiB ÷ Go's bare primitives, " + key.name, Reach: key.reach,
			Absolute: fmt.Sprintf("%.1f, %.1f µs of processor", 1e6*middle(got[0], byCPU), 1e6*middle(got[1], byCPU)),
		}, ratio(got[1], got[0], byCPU))
	}
}

// readBenchmark reads the times of one operation from the output of go test. These are the mean,
// and a time that the benchmark itself reports: cpu-ns/op or p50-ns/op.
func readBenchmark(out, reported string) (sample, error) {
	mean, err := nanoseconds(out, "ns/op")
	if err != nil {
		return sample{}, err
	}
	own, err := nanoseconds(out, reported)
	s := sample{rate: 1e9 / mean, p50: time.Duration(mean)}
	if reported == "p50-ns/op" {
		s.p50 = time.Duration(own)
	} else {
		s.cpu = own / 1e9
	}
	return s, err
}

// nanoseconds returns the value of a unit in the output of go test.
func nanoseconds(out, unit string) (float64, error) {
	found := regexp.MustCompile(`\s([0-9.]+) ` + regexp.QuoteMeta(unit) + `\b`).FindStringSubmatch(out)
	if found == nil {
		return 0, fmt.Errorf("a benchmark printed no %s: %s", unit, out)
	}
	n, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		return 0, fmt.Errorf("a benchmark printed a wrong %s: %w", unit, err)
	}
	return n, nil
}
