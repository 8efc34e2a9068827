//go:build unix

package fleet

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Config says what to start.
type Config struct {
	Cores, Filters, Proxies int
	Store                   string   // URL of an empty database, for cores and filters; with several hosts where there are
	Binaries                string   // folder of the programs; those of this tree by default
	CoreArgs                []string // more for core serve
	CoreEnv                 []string // more for core, as NAME=value
	// FilterArgs and ProxyArgs are more for each of these programs, by its number. They may be nil.
	FilterArgs, ProxyArgs func(n int) []string
}

// Fleet is several of each program on one database, and one merchant with a login at each door.
type Fleet struct {
	Cores, Filters, Proxies *Group
	Merchant                string // mer_…
	Secret, Publishable     string // its API keys, in test mode
	ProviderA               ProviderA
	ProviderB               ProviderB

	config Config
	dir    string
	env    []string
}

// ProviderA is the merchant's login at that door.
type ProviderA struct{ Name, TransactionKey string }

// ProviderB is the merchant's login at that door: for HTTP signatures, with the secret in base64.
type ProviderB struct{ MerchantID, KeyID, SharedSecret string }

// Start starts a fleet and returns when all of it takes requests. The test's end kills it, and shows the logs of a test that failed.
func Start(tb testing.TB, c Config) *Fleet {
	tb.Helper()
	if c.Binaries == "" {
		c.Binaries = Binaries(tb)
	}
	f := &Fleet{config: c, dir: tb.TempDir(), env: append([]string{
		"CAUSEWAY_STORE=" + c.Store, "CAUSEWAY_VAULT_KEK=" + random(), "CAUSEWAY_MLE_KEK=" + random(),
		"CAUSEWAY_DEDUPLICATION_SECRET=" + random(),
	}, c.CoreEnv...)}
	f.Run(tb, "migrate")
	f.enroll(tb)
	at, filters, proxies := programtest.Host(tb), 0, 0
	f.Cores = f.group(tb, "core", at, 18080, c.Cores, func(listen, admin string) []string {
		return append([]string{"serve", "--listen", listen, "--admin", admin, "--rate-limit", "0"}, c.CoreArgs...)
	})
	f.Filters = f.group(tb, "mle-filter", at, 18180, c.Filters, func(listen, admin string) []string {
		return append([]string{"--listen", listen, "--admin", admin, "--v1", f.Cores.URL(), "--keys", c.Store}, c.more(c.FilterArgs, &filters)...)
	})
	v1 := f.Filters
	if c.Filters == 0 {
		v1 = f.Cores
	}
	f.Proxies = f.group(tb, "compat-proxy", at, 18280, c.Proxies, func(listen, admin string) []string {
		return append([]string{"--listen", listen, "--admin", admin, "--v1", v1.URL(), "--credentials", filepath.Join(f.dir, "logins.yaml"), "--drop-in-paths"},
			c.more(c.ProxyArgs, &proxies)...)
	})
	return f
}

// more are the further arguments of the next instance.
func (c Config) more(args func(int) []string, next *int) []string {
	*next++
	if args == nil {
		return nil
	}
	return args(*next - 1)
}

// random is a secret of 32 bytes in base64.
func random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return base64.StdEncoding.EncodeToString(b)
}

// Command is a command of the core in a folder, on the fleet's store.
func (f *Fleet) Command(folder string, args ...string) programtest.Command {
	return programtest.Command{Path: filepath.Join(folder, "core"), Args: args, Env: f.env}
}

// Run runs a command of core to its end, and returns what it printed. It has more patience with the store than what serves, for a machine that starves.
func (f *Fleet) Run(tb testing.TB, args ...string) string {
	tb.Helper()
	c, more := f.Command(f.config.Binaries, args...), "?patience=1m"
	if strings.Contains(f.config.Store, "?") {
		more = "&patience=1m"
	}
	c.Env = append(slices.Clone(c.Env), "CAUSEWAY_STORE="+f.config.Store+more)
	return programtest.MustOutput(tb, c)
}

// enroll makes the merchant, and its logins.
func (f *Fleet) enroll(tb testing.TB) {
	tb.Helper()
	f.Merchant = f.Run(tb, "merchants", "create", "Shop")
	f.Secret = f.Run(tb, "keys", "create", "--merchant", f.Merchant)
	f.Publishable = f.Run(tb, "keys", "create", "--merchant", f.Merchant, "--kind", "publishable")
	f.ProviderA, f.ProviderB = ProviderA{"shop", rand.Text()[:16]}, ProviderB{"shop", "shop-key", random()}
	logins := fmt.Sprintf("provider_a:\n  - {name: %s, transaction_key: %s, api_key: %s}\nprovider_b:\n  - merchant_id: %s\n    keys:\n"+
		"      - {id: %s, shared_secret: %q}\n    api_key: %s\n", f.ProviderA.Name, f.ProviderA.TransactionKey, f.Secret,
		f.ProviderB.MerchantID, f.ProviderB.KeyID, f.ProviderB.SharedSecret, f.Secret)
	if err := os.WriteFile(filepath.Join(f.dir, "logins.yaml"), []byte(logins), 0o600); err != nil {
		tb.Fatal(err)
	}
}
