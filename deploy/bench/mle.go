package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// unwrap measures P6: the time of the encryption engine for a request, against Go's primitives on
// the same message. Both sides are benchmarks of mle-filter, since its engine is internal.
func unwrap(ctx context.Context, b *Bench) ([]Row, error) {
	program := b.folder("engine.test")
	args := []string{"test", "-c", "-o", program, "./mle-filter/internal/engine"}
	build := exec.CommandContext(ctx, "go", args...) //nolint:gosec // a path of this run
	build.Dir, build.Stdout, build.Stderr = b.root, os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("build mle-filter's benchmarks: %w", err)
	}
	var rows []Row
	for _, key := range []struct {
		name, alg string
		reach     float64
	}{{"RSA-2048", "RSA-OAEP-256", 0.95}, {"P-256", "ECDH-ES+A256KW", 0.75}} {
		of := func(what string) side {
			return side{key.name + " " + what, func(ctx context.Context) (sample, error) {
				return b.goBenchmark(ctx, program, "BenchmarkUnwrap", key.alg, what)
			}}
		}
		got, err := b.interleave(ctx, of("engine"), of("bare"))
		if err != nil {
			return nil, err
		}
		r := Row{ID: "P6", What: "MLE unwrap of 1 KiB ÷ Go's bare primitives, " + key.name, Reach: key.reach}
		r.ratio(got[0], got[1], func(s sample) float64 { return 1 / s.cpu })
		r.Absolute = fmt.Sprintf("%.1f, %.1f µs of processor", 1e6*middle(got[0], byCPU), 1e6*middle(got[1], byCPU))
		rows = append(rows, r)
	}
	return rows, nil
}

// goBenchmark runs one benchmark of a test program, by the names of its levels.
func (b *Bench) goBenchmark(ctx context.Context, program string, path ...string) (sample, error) {
	pattern := make([]string, len(path))
	for i, name := range path {
		pattern[i] = "^" + regexp.QuoteMeta(name) + "$"
	}
	args := []string{"-test.run=^$", "-test.bench=" + strings.Join(pattern, "/"), "-test.benchtime=" + b.Each.String()}
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // built above
	cmd.Dir = filepath.Join(b.root, "mle-filter", "internal", "engine")
	out, err := cmd.Output()
	if err != nil {
		return sample{}, fmt.Errorf("%s: %w", strings.Join(path, "/"), err)
	}
	s, err := readBenchmark(out)
	if err != nil {
		return sample{}, fmt.Errorf("%s: %w", strings.Join(path, "/"), err)
	}
	return s, nil
}

// benchmarked are the times in the line of a result that go test prints.
var benchmarked = regexp.MustCompile(`\s([0-9.]+) ns/op\s+([0-9.]+) cpu-ns/op`)

// readBenchmark reads the output of go test.
func readBenchmark(out []byte) (sample, error) {
	times := benchmarked.FindSubmatch(out)
	if times == nil {
		return sample{}, fmt.Errorf("a benchmark gave no times: %s", out)
	}
	elapsed, err := strconv.ParseFloat(string(times[1]), 64)
	if err != nil {
		return sample{}, err
	}
	cpu, err := strconv.ParseFloat(string(times[2]), 64)
	return sample{rate: 1e9 / elapsed, p50: time.Duration(elapsed), cpu: cpu / 1e9}, err
}
