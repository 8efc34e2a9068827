package standalone_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/programtest"
)

const patience = programtest.Patience

// bin is the folder of the programs under test.
var bin string

func TestMain(m *testing.M) { programtest.Main(m, &bin, "standalone", "compat-proxy") }

// ready is the line of --json. Its shape is written out here again on purpose: other programs read it.
type ready struct {
	HTTP  string `json:"http"`
	HTTPS string `json:"https"`
	CA    string `json:"ca"`
	Keys  struct {
		SKTest string `json:"sk_test"`
		PKTest string `json:"pk_test"`
		SKLive string `json:"sk_live"`
		PKLive string `json:"pk_live"`
	} `json:"keys"`
	ProviderA struct {
		Name           string `json:"name"`
		TransactionKey string `json:"transaction_key"`
	} `json:"provider_a"`
	ProviderB struct {
		MerchantID   string `json:"merchant_id"`
		KeyID        string `json:"key_id"`
		SharedSecret string `json:"shared_secret"`
		P12          string `json:"p12"`
		P12Password  string `json:"p12_password"`
	} `json:"provider_b"`
}

// process is a running standalone.
type process struct {
	ready
	*programtest.Program // its Log is stderr
	stdout               *programtest.Log
}

// start runs the standalone with --json on free ports and dir, and returns when it is ready. The
// end of the test kills it.
func start(tb testing.TB, dir string, args ...string) *process {
	tb.Helper()
	return startWith(tb, nil, dir, args...)
}

// startWith is start with more variables in the environment.
func startWith(tb testing.TB, env []string, dir string, args ...string) *process {
	tb.Helper()
	p := launchWith(tb, env, append([]string{
		"--json", "--data", dir, "--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0",
		"--rate-limit", "0", // one key makes all the load
	}, args...)...)
	p.awaitReady(tb)
	return p
}

// awaitReady waits for the line of --json.
func (p *process) awaitReady(tb testing.TB) {
	tb.Helper()
	if err := p.Until(tb.Context(), "is ready", func() bool { return strings.HasSuffix(p.stdout.String(), "\n") }); err != nil {
		tb.Fatalf("%v; stderr:\n%s", err, p.Log)
	}
	if err := json.Unmarshal([]byte(p.stdout.String()), &p.ready, json.RejectUnknownMembers(true)); err != nil {
		tb.Fatalf("ready line %q: %v; stderr:\n%s", p.stdout, err, p.Log)
	}
}

// launch runs the standalone.
func launch(tb testing.TB, args ...string) *process {
	tb.Helper()
	return launchWith(tb, nil, args...)
}

// launchWith runs the standalone with more variables in the environment.
func launchWith(tb testing.TB, env []string, args ...string) *process {
	tb.Helper()
	p := &process{stdout: &programtest.Log{}}
	p.Program = programtest.Start(tb, programtest.Command{Path: standalone(), Args: args, Env: env, Stdout: p.stdout})
	return p
}

func standalone() string { return filepath.Join(bin, "standalone") }

// output runs the standalone to its end and returns what it printed and its exit code.
func output(tb testing.TB, args ...string) (stdout, stderr string, code int) {
	tb.Helper()
	stdout, stderr, err := programtest.Output(tb.Context(), programtest.Command{Path: standalone(), Args: args})
	return stdout, stderr, programtest.ExitCode(err)
}
