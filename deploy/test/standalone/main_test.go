package standalone_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/fleet"
	"github.com/causeway-pay/causeway/deploy/test/sdk"
	"github.com/causeway-pay/causeway/shared/programtest"
)

const patience = programtest.Patience

// bin is the folder of the programs under test.
var bin string

func TestMain(m *testing.M) { programtest.Main(m, &bin, "standalone", "compat-proxy", "core") }

// ready is the line of --json.
type ready = fleet.Ready

// process is a running standalone.
type process struct {
	ready
	*programtest.Program // its Log is stderr
	stdout               *programtest.Log
}

// start runs the standalone with --json on free ports and dir, and returns when it is ready. The
// end of the test kills it. An empty folder gets a copy of one that a first start has made.
func start(tb testing.TB, dir string, args ...string) *process {
	tb.Helper()
	return startWith(tb, nil, dir, args...)
}

// startWith is start with further environment variables.
func startWith(tb testing.TB, env []string, dir string, args ...string) *process {
	tb.Helper()
	fill(tb, dir)
	return startNew(tb, env, dir, args...)
}

// fill makes an empty folder a copy of one that a first start has made.
func fill(tb testing.TB, dir string) {
	tb.Helper()
	if entries, err := os.ReadDir(dir); err == nil && len(entries) == 0 {
		programtest.MustOutput(tb, programtest.Command{Path: "cp", Args: []string{"-a", mustMake(tb) + "/.", dir}})
	}
}

// startNew is startWith, and leaves an empty folder to the program.
func startNew(tb testing.TB, env []string, dir string, args ...string) *process {
	tb.Helper()
	p := launchWith(tb, env, fleet.StandaloneArgs(dir, args...)...)
	p.awaitReady(tb)
	return p
}

// made guards the folder that mustMake makes, and is set if it is complete.
var made struct {
	sync.Mutex

	complete bool
}

// mustMake returns a folder that a first start has made, with its RSA keys. Generating them takes
// four times as long as the rest of a start.
func mustMake(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(bin, "data")
	made.Lock()
	defer made.Unlock()
	if !made.complete {
		p := startNew(tb, nil, dir)
		sdk.WaitForKeys(tb, system(tb, p))
		p.Stop(tb)
		made.complete = true
	}
	return dir
}

// awaitReady waits for the line of --json.
func (p *process) awaitReady(tb testing.TB) {
	tb.Helper()
	var err error
	if p.ready, err = fleet.AwaitReady(tb.Context(), p.Program); err != nil {
		tb.Fatalf("%v; stderr:\n%s", err, p.Log)
	}
}

// launch runs the standalone.
func launch(tb testing.TB, args ...string) *process {
	tb.Helper()
	return launchWith(tb, nil, args...)
}

// launchWith runs the standalone with further environment variables.
func launchWith(tb testing.TB, env []string, args ...string) *process {
	tb.Helper()
	return launchProgram(tb, standalone(), env, args...)
}

// launchProgram is launchWith for another build of the standalone.
func launchProgram(tb testing.TB, path string, env []string, args ...string) *process {
	tb.Helper()
	p := &process{stdout: &programtest.Log{}}
	p.Program = programtest.Start(tb, programtest.Command{Path: path, Args: args, Env: env, Stdout: p.stdout})
	return p
}

func standalone() string { return filepath.Join(bin, "standalone") }

// output runs the standalone to its end and returns its output and exit code.
func output(tb testing.TB, args ...string) (stdout, stderr string, code int) {
	tb.Helper()
	stdout, stderr, err := programtest.Output(tb.Context(), programtest.Command{Path: standalone(), Args: args})
	return stdout, stderr, programtest.ExitCode(err)
}
