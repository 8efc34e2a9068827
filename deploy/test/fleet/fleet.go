//go:build unix

package fleet

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Config sets the number of programs and their arguments.
type Config struct {
	Cores, Filters, Proxies int
	Store                   string   // URL of an empty database for cores and filters; it may name several hosts
	Binaries                string   // folder of the programs; "" for the programs of this tree
	CoreArgs                []string // further arguments of core serve
	CoreEnv                 []string // further variables of core, as NAME=value
	// FilterArgs and ProxyArgs return further arguments of each of these programs, by its number. They
	// may be nil.
	FilterArgs, ProxyArgs func(n int) []string
}

// Fleet is several instances of each program on one database, and one merchant with a login of each
// provider.
type Fleet struct {
	Cores, Filters, Proxies *Group
	Merchant                string // mer_…
	Secret, Publishable     string // its API keys, in test mode
	ProviderA               ProviderA
	ProviderB               ProviderB
	Journal                 string // path of the simulated acquirer's journal, which all cores share

	config Config
	dir    string
	env    []string
}

// ProviderA is the merchant's login of provider-a.
type ProviderA struct {
	Name           string `json:"name"`
	TransactionKey string `json:"transaction_key"`
}

// ProviderB is the merchant's login of provider-b for HTTP signatures, and by a P12 file.
type ProviderB struct {
	MerchantID   string `json:"merchant_id"`
	KeyID        string `json:"key_id"`
	SharedSecret string `json:"shared_secret"` // base64
	P12          string `json:"p12"`           // path of the file, "" for none
	P12Password  string `json:"p12_password"`
}

// Start starts a fleet, and returns when all programs accept connections. The end of the test kills
// them, and shows their logs if the test failed.
func Start(tb testing.TB, c Config) *Fleet {
	tb.Helper()
	if c.Binaries == "" {
		c.Binaries = Binaries(tb)
	}
	dir := tb.TempDir()
	f := &Fleet{config: c, dir: dir, Journal: filepath.Join(dir, "simulator.journal"), env: append([]string{
		"CAUSEWAY_STORE=" + c.Store, "CAUSEWAY_VAULT_KEK=" + programtest.Secret(), "CAUSEWAY_MLE_KEK=" + programtest.Secret(),
		"CAUSEWAY_DEDUPLICATION_SECRET=" + programtest.Secret(),
	}, c.CoreEnv...)}
	f.Run(tb, "migrate")
	f.enroll(tb)
	at := programtest.Host(tb)
	f.Cores = f.group(tb, "core", at, 18080, c.Cores, func(_ int, listen, admin string) []string {
		return append([]string{
			"serve", "--listen", listen, "--admin", admin, "--rate-limit", "0", "--simulator-journal", f.Journal,
		}, c.CoreArgs...)
	})
	f.Filters = f.group(tb, "mle-filter", at, 18180, c.Filters, func(n int, listen, admin string) []string {
		args := []string{"--listen", listen, "--admin", admin, "--v1", f.Cores.URL(), "--keys", c.Store}
		if c.FilterArgs == nil {
			return args
		}
		return append(args, c.FilterArgs(n)...)
	})
	v1 := f.Filters
	if c.Filters == 0 {
		v1 = f.Cores
	}
	f.Proxies = f.group(tb, "compat-proxy", at, 18280, c.Proxies, func(n int, listen, admin string) []string {
		logins := filepath.Join(f.dir, "logins.yaml")
		args := []string{"--listen", listen, "--admin", admin, "--v1", v1.URL(), "--credentials", logins, "--drop-in-paths"}
		if c.ProxyArgs == nil {
			return args
		}
		return append(args, c.ProxyArgs(n)...)
	})
	return f
}

// Command returns a command of the core in a folder, on the fleet's store.
func (f *Fleet) Command(folder string, args ...string) programtest.Command {
	return programtest.Command{Path: filepath.Join(folder, "core"), Args: args, Env: f.env}
}

// Run runs a command of core to its end, and returns its output. It waits longer for the store than
// core serve does, because other tests can overload the machine.
func (f *Fleet) Run(tb testing.TB, args ...string) string {
	tb.Helper()
	c, more := f.Command(f.config.Binaries, args...), "?patience=1m"
	if strings.Contains(f.config.Store, "?") {
		more = "&patience=1m"
	}
	c.Env = append(slices.Clone(c.Env), "CAUSEWAY_STORE="+f.config.Store+more)
	return programtest.MustOutput(tb, c)
}

// enroll creates the merchant and its logins.
func (f *Fleet) enroll(tb testing.TB) {
	tb.Helper()
	f.Merchant = f.Run(tb, "merchants", "create", "Shop")
	f.Secret = f.Run(tb, "keys", "create", "--merchant", f.Merchant)
	f.Publishable = f.Run(tb, "keys", "create", "--merchant", f.Merchant, "--kind", "publishable")
	f.ProviderA = ProviderA{"shop", rand.Text()[:16]}
	f.ProviderB = ProviderB{MerchantID: "shop", KeyID: "shop-key", SharedSecret: programtest.Secret()}
	logins := fmt.Sprintf(`provider_a:
  - {name: %s, transaction_key: %s, api_key: %s}
provider_b:
  - merchant_id: %s
    keys:
      - {id: %s, shared_secret: %q}
    api_key: %s
`, f.ProviderA.Name, f.ProviderA.TransactionKey, f.Secret, f.ProviderB.MerchantID, f.ProviderB.KeyID,
		f.ProviderB.SharedSecret, f.Secret)
	if err := os.WriteFile(filepath.Join(f.dir, "logins.yaml"), []byte(logins), 0o600); err != nil {
		tb.Fatal(err)
	}
}
