package standalone_test

import (
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/sdk"
	"github.com/causeway-pay/causeway/shared/id"
)

// TestClients runs unmodified clients of provider-a through the days of a merchant, in parallel,
// over HTTPS with the development authority.
func TestClients(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, data)
	mapStrict(t, p, filepath.Join(data, "compat-credentials.yaml"))
	s := system(t, p)
	for name, client := range map[string]func(*testing.T, *sdk.System, string) sdk.Client{
		"node": sdk.NodeA, "python": sdk.PythonA, "java": sdk.JavaA,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sdk.WalkA(t, s, client(t, s, ""))
		})
	}
}

// mapStrict gives the running proxy a second login, without the rules of a sandbox.
func mapStrict(t *testing.T, p *process, logins string) {
	t.Helper()
	sdk.MapStrict(t, issuer(logins), p.Keys.SKTest)
	(&loginDesk{p: p, proxy: &replica{Program: p.Program, base: p.HTTP}}).
		until(t, sdk.Strict.Name, sdk.Strict.Key, "1/1")
}

// system returns a standalone in the form for clients.
func system(tb testing.TB, p *process) *sdk.System {
	tb.Helper()
	return &sdk.System{
		HTTPS: p.HTTPS, CA: p.CA, V1: p.HTTP, HTTP: merchantOf(tb, p).http, Key: p.Keys.SKTest,
		A: sdk.LoginA{Name: p.ProviderA.Name, Key: p.ProviderA.TransactionKey}, Log: p.Log,
	}
}

// txn returns the v1 id of a legacy number.
func txn(t *testing.T, number string) string {
	t.Helper()
	got, err := id.Decimal(id.Transaction, number)
	if err != nil {
		t.Fatalf("%q: %v", number, err)
	}
	return got
}
