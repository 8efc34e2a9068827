package standalone_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/deploy/test/sdk"
)

// TestClients_providerB runs unmodified clients of provider-b through the days of a merchant, in
// parallel, over HTTPS with the development authority. It covers every way of login, and of
// configuring the host.
func TestClients_providerB(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := start(t, data)
	b := p.ProviderB
	own := sdk.LoginB{Merchant: b.MerchantID, KeyID: b.KeyID, Secret: b.SharedSecret, P12: b.P12, Password: b.P12Password}
	issued := sdk.IssueB(t, issuer(filepath.Join(data, "compat-credentials.yaml")), own, p.Keys.SKTest)
	awaitReload(t, p)
	s := system(t, p)
	for name, install := range map[string]func(*testing.T, *sdk.System, string) sdk.ClientB{
		"node": sdk.NodeB, "python": sdk.PythonB, "java": sdk.JavaB,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ways []sdk.RouteB
			for _, way := range sdk.WaysB() {
				route := sdk.RouteB{WayB: way, Base: p.HTTPS}
				if name == way.Without {
					continue
				}
				if way.Encrypted {
					wire := watch(t, p, data)
					defer wire.check(t)
					route.Base = wire.URL
				}
				ways = append(ways, route)
			}
			sdk.WalkB(t, s, install(t, s, ""), issued, ways)
		})
	}
}

// awaitReload sends requests with a login until the proxy has read its file again, which it does
// for requests, at most once a second.
func awaitReload(t *testing.T, p *process) {
	t.Helper()
	desk := &loginDesk{p: p, proxy: &replica{Program: p.Program, base: p.HTTP}}
	began := time.Now() //nolint:forbidigo // the real program's time is measured
	for !strings.Contains(p.Log.String(), "credentials: reloaded") {
		desk.charge(t, "nobody", "wrong00000000000", "none")
		if time.Since(began) > patience {
			t.Fatalf("the file is not read again; log:\n%s", p.Log)
		}
		<-time.After(50 * time.Millisecond)
	}
}
