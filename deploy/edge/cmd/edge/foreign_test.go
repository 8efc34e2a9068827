package main

import (
	"net"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/envoytest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestForeignNACK runs one Envoy that cannot open one of its listeners. It must not prevent the
// announcement of the first certificate, the rotation to the next, or a reload of the
// configuration. After a repair of the listener, the Envoy is current.
func TestForeignNACK(t *testing.T) {
	t.Parallel()
	b := newTestbed(t)
	admin := programtest.Host(t) + ":9084"
	b.configure(t, "admin: "+admin)
	var lc net.ListenConfig
	taken, err := lc.Listen(t.Context(), "tcp", b.http)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close() //nolint:errcheck // nothing was sent
	b.run(t)
	second := b.envoyCalled(t, "envoy-2")
	// The second refusal is that of the one listener, sent alone. An attempt that comes after the port
	// is free would succeed.
	second.Wait(t, "is not sent the listener alone", func() bool {
		return b.countLogged(t, "a node rejected its configuration") >= 2
	})
	b.logged(t, second, "certificate is live") // (d)
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	first := b.envoyCalled(t, "envoy-1") // this Envoy can open all
	b.ready(t, first, admin,
		`{"current":true,"id":"envoy-1","refused":""},{"current":false,"id":"envoy-2","refused":"Listener: `)

	next := b.install(t) // (a)
	b.shows(t, first, next)
	first.Wait(t, "is not announced", func() bool { return b.countLogged(t, "certificate is live") == 2 })
	b.configure(t, "admin: "+admin+"\nlimits: {timeout: 7s}") // (c)
	b.logged(t, first, "the configuration was read again")
	if b.countLogged(t, "was rejected; the ") > 0 {
		t.Error("something was refused for a foreign reason")
	}

	b.http = programtest.Host(t) + ":8080" // the repair
	b.configure(t, "admin: "+admin)
	b.ready(t, first, admin, `{"current":true,"id":"envoy-1","refused":""},{"current":true,"id":"envoy-2","refused":""}`)
}

// ready waits until the operators' port reports the state of an Envoy.
func (b *testbed) ready(t *testing.T, e *envoytest.Envoy, admin, want string) {
	t.Helper()
	e.Wait(t, "never: "+want, func() bool { return strings.Contains(fetched(t, "http://"+admin+"/ready"), want) })
}
