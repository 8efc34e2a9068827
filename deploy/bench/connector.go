package bench

import (
	"fmt"
	"path/filepath"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// connectors measures P14: the time of a payment at each provider's connector, against the same
// bytes sent by net/http to the same host. Both sides are benchmarks of core, since the connectors
// are internal.
func connectors(b *Bench) {
	root := programtest.MustRoot(b)
	for _, name := range []string{"providera", "providerb"} {
		folder := filepath.Join("core", "internal", "acquirer", name)
		program := b.path(name + ".test")
		programtest.MustOutput(b, programtest.Command{
			Path: "go", Args: []string{"test", "-c", "-o", program, "./" + filepath.ToSlash(folder)}, Dir: root,
		})
		of := func(what string) side {
			return side{name + " " + what, func() sample {
				return must(readBenchmark(programtest.MustOutput(b, programtest.Command{
					Path: program, Args: []string{
						"-test.run=^$", "-test.bench=^BenchmarkAuthorize$/^" + what + "$",
						"-test.benchtime=" + b.Each.String(),
					},
					Dir: filepath.Join(root, folder),
				}), "p50-ns/op"))
			}}
		}
		got := b.interleave(of("connector"), of("bare"))
		b.add(Row{
			ID: "P14", What: "p50 of " + name + "'s Authorize ÷ the same bytes by net/http", Reach: 1.25, AtMost: true,
			Absolute: fmt.Sprintf("%.1f µs ÷ %.1f µs", 1e6*middle(got[0], byP50), 1e6*middle(got[1], byP50)),
		}, ratio(got[0], got[1], byP50))
	}
}
