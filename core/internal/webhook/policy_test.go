package webhook_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/webhook"
	"github.com/causeway-pay/causeway/shared/programtest"
)

func TestURLs(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]struct{ live, test bool }{
		"https://example.com":                              {true, true},
		"https://example.com:8443/hook?a=b&c=%20":          {true, true},
		"https://1.1.1.1/":                                 {true, true},
		"https://[2606:4700::1111]/":                       {true, true},
		"https://xn--bcher-kva.example/":                   {true, true},
		"http://example.com/":                              {false, true},
		"":                                                 {},
		"example.com":                                      {},
		"//example.com/":                                   {},
		"https:example.com":                                {},
		"https://":                                         {},
		"https://:443/":                                    {},
		"https://example.com:/":                            {},
		"https://example.com:0/":                           {},
		"https://example.com:65536/":                       {},
		"https://example.com:http/":                        {},
		"ftp://example.com/":                               {},
		"file:///etc/passwd":                               {},
		"gopher://example.com/":                            {},
		"javascript:alert(1)":                              {},
		"https://user@example.com/":                        {},
		"https://user:secret@example.com/":                 {},
		"https://example.com/#part":                        {},
		"https://example.com/#":                            {},
		"https://example.com/a b":                          {},
		"https://example.com/\n":                           {},
		"https://127.0.0.1.../":                            {},
		"https://1.1.1.1../":                               {},
		"https://a..example.com/":                          {},
		"https://.example.com/":                            {},
		"https://example.com../":                           {},
		"https://.../":                                     {},
		"https://./":                                       {},
		"https://example.com./":                            {true, true},
		"https://exämple.com/":                             {},
		"https://localhost/":                               {},
		"https://LOCALHOST./":                              {},
		"https://shop.localhost/":                          {},
		"https://printer.local/":                           {},
		"https://metadata.google.internal/":                {},
		"https://router.home.arpa/":                        {},
		"https://intranet/":                                {},
		"https://2130706433/":                              {},
		"https://127.0.0.1/":                               {},
		"https://10.1.2.3/":                                {},
		"https://169.254.169.254/":                         {},
		"https://[::1]/":                                   {},
		"https://[::ffff:127.0.0.1]/":                      {},
		"https://[fe80::1%25eth0]/":                        {},
		"https://0.0.0.0/":                                 {},
		"https://127.1/":                                   {},
		"https://0x7f.1/":                                  {},
		"https://0x7F.0X1/":                                {},
		"https://example.0x7f000001/":                      {},
		"https://017700000001./":                           {},
		"https://1.2.3.4.5/":                               {},
		"https://3com.example/":                            {true, true},
		"https://shop.svc/":                                {},
		"https://core.shop.svc./":                          {},
		"https://nas.lan/":                                 {},
		"https://nas.home/":                                {},
		"https://wiki.corp/":                               {},
		"https://wiki.intranet/":                           {},
		"https://wiki.private/":                            {},
		"https://shop.test/":                               {},
		"https://shop.invalid/":                            {},
		"https://svc.example/":                             {true, true},
		"https://example.com:443/":                         {true, true},
		"https://example.com:1024/":                        {true, true},
		"https://example.com:25/":                          {},
		"https://example.com:80/":                          {},
		"https://example.com:1023/":                        {},
		"http://example.com:80/":                           {false, true},
		"http://example.com:8080/":                         {false, true},
		"http://example.com:25/":                           {},
		"http://example.com:443/":                          {},
		"http://example.com:6379/":                         {},
		"http://example.com:11211/":                        {},
		"https://example.com/" + strings.Repeat("a", 2029): {},
	} {
		for live, ok := range map[bool]bool{true: want.live, false: want.test} {
			if err := (webhook.Policy{}).CheckURL(url, live); (err == nil) != ok {
				t.Errorf("%q, live %t: got %v, want allowed %t", url, live, err, ok)
			}
		}
	}
	for _, url := range []string{"http://localhost:8080/", "http://127.1:25/", "https://shop.svc:81/", "http://127.0.0.1:1/", "https://[::1]/", "http://intranet/"} {
		if err := (webhook.Policy{AllowPrivate: true}).CheckURL(url, false); err != nil {
			t.Errorf("%s with private networks allowed: %v", url, err)
		}
	}
	for url, live := range map[string]bool{"http://localhost/": true, "http://a..localhost/": false, "http://./": false} {
		if (webhook.Policy{AllowPrivate: true}).CheckURL(url, live) == nil {
			t.Errorf("%s with private networks allowed, live %t: no error", url, live)
		}
	}
}

// TestURLs_localPort: the port is no fault of a receiver on the own machine, which has the setting.
func TestURLs_localPort(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"http://127.0.0.1:4000/", "http://localhost:4000/", "https://127.0.0.1:100/"} {
		if err := (webhook.Policy{}).CheckURL(url, false); err == nil || !strings.Contains(err.Error(), "--webhooks-allow-private") {
			t.Errorf("%s: got %v, want an error that names the flag", url, err)
		}
	}
	err := (webhook.Policy{}).CheckURL("http://example.com:4000/", false)
	if err == nil || !strings.Contains(err.Error(), "port 80 or 8080") {
		t.Errorf("a public host: got %v, want an error that names the ports", err)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"1.1.1.1":                   true,
		"9.255.255.255":             true,
		"100.63.255.255":            true,
		"100.128.0.0":               true,
		"172.15.255.255":            true,
		"172.32.0.0":                true,
		"223.255.255.255":           true,
		"2606:4700:4700::1111":      true,
		"2a00:1450:4001:80b::200e":  true,
		"0.0.0.0":                   false,
		"0.1.2.3":                   false,
		"10.0.0.0":                  false,
		"10.255.255.255":            false,
		"100.64.0.0":                false, // carrier NAT
		"100.100.100.200":           false, // a cloud's metadata
		"100.127.255.255":           false,
		"127.0.0.1":                 false,
		"127.255.255.254":           false,
		"168.63.129.16":             false, // a cloud's metadata
		"169.254.0.1":               false,
		"169.254.169.254":           false,
		"172.16.0.1":                false,
		"172.31.255.255":            false,
		"192.0.0.192":               false,
		"192.0.2.1":                 false,
		"192.88.99.1":               false,
		"192.168.1.1":               false,
		"198.18.0.1":                false,
		"198.19.255.255":            false,
		"198.51.100.7":              false,
		"203.0.113.7":               false,
		"224.0.0.1":                 false,
		"239.255.255.250":           false,
		"240.0.0.1":                 false,
		"255.255.255.255":           false,
		"::":                        false,
		"::1":                       false,
		"::7f00:1":                  false, // compatible
		"::ffff:127.0.0.1":          false, // mapped
		"::ffff:1.1.1.1":            false,
		"::ffff:0:127.0.0.1":        false, // translated
		"64:ff9b::7f00:1":           false, // NAT64
		"64:ff9b::101:101":          false,
		"64:ff9b:1::a00:1":          false,
		"100::1":                    false, // discard
		"2001::1":                   false, // Teredo
		"2001:10::1":                false,
		"2001:db8::1":               false,
		"2002:7f00:1::":             false, // 6to4 of 127.0.0.1
		"2002:101:101::1":           false,
		"3fff::1":                   false,
		"5f00::1":                   false,
		"fc00::1":                   false,
		"fd00:ec2::254":             false, // a cloud's metadata
		"fe80::1":                   false,
		"fe80::1%eth0":              false,
		"fec0::1":                   false,
		"ff02::1":                   false,
		"2606:4700:4700::1111%eth0": false,
	} {
		ip := netip.MustParseAddr(address)
		err := webhook.Policy{}.Control(netip.AddrPortFrom(ip, 443).String())
		if (err == nil) != want || (err != nil && !errors.Is(err, webhook.ErrAddress)) {
			t.Errorf("%s: got %v, want allowed %t", address, err, want)
		}
	}
	for address, want := range map[string]bool{"127.0.0.1:80": true, "[::1]:80": true, "10.0.0.1:1": true, "224.0.0.1:80": false, "[ff02::1]:80": false} {
		if err := (webhook.Policy{AllowPrivate: true}).Control(address); (err == nil) != want {
			t.Errorf("%s with private networks allowed: got %v", address, err)
		}
	}
	for _, address := range []string{"", "/run/socket", "example.com:80", "1.1.1.1"} {
		if err := (webhook.Policy{AllowPrivate: true}).Control(address); !errors.Is(err, webhook.ErrAddress) {
			t.Errorf("%q: got %v", address, err)
		}
	}
}

// FuzzURL checks that no URL with a private address passes, in any spelling of the address.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{"https://127.0.0.1/", "https://[::ffff:10.0.0.1]:80/", "https://a.b/", "https://10.0.0.1.:1/x", "https://0177.0.0.1/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if (webhook.Policy{}).CheckURL(text, true) != nil {
			return
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, text, http.NoBody)
		if err != nil {
			t.Fatalf("%q was taken and makes no request: %v", text, err)
		}
		ip, err := netip.ParseAddr(r.URL.Hostname())
		if err == nil && (ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast()) {
			t.Errorf("%q was taken", text)
		}
		if r.URL.Scheme != "https" || r.URL.User != nil {
			t.Errorf("%q was taken", text)
		}
	})
}

// nameserver responds to each query with the next of its addresses, and repeats the last one.
func nameserver(t *testing.T, asked *atomic.Int64, addresses ...string) *net.Resolver {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buf := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			q := buf[:n]
			name := 12
			for q[name] != 0 {
				name += int(q[name]) + 1
			}
			end := name + 5 // the root label, type and class
			reply := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, q[12:end]...)
			if q[name+2] == 1 { // a query of type A; for all others there is no record
				i := min(asked.Add(1)-1, int64(len(addresses)-1))
				ip := netip.MustParseAddr(addresses[i]).As4()
				reply[7] = 1
				reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ip[0], ip[1], ip[2], ip[3])
			}
			_, _ = conn.WriteTo(reply, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func TestWhereAConnectionLeadsDecides(t *testing.T) {
	t.Parallel()
	secretService := newReceiver(t, nil)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(secretService.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		url       string
		addresses []string
	}{
		"loopback":   {"http://127.0.0.1:" + port, nil},
		"mapped":     {"http://[::ffff:127.0.0.1]:" + port, nil},
		"unspecific": {"http://0.0.0.0:" + port, nil},
		"by name":    {"http://shop.example:" + port, []string{"127.0.0.1"}},
		"link local": {"http://shop.example:" + port, []string{"169.254.169.254"}},
		"private":    {"http://shop.example:" + port, []string{"192.168.0.1"}},
		// The first query returns a public address, and the query of the connection another one.
		"rebound": {"http://shop.example:" + port, []string{"192.0.2.77", "127.0.0.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			var asked atomic.Int64
			resolver := nameserver(t, &asked, append(c.addresses, "127.0.0.1")...)
			if name == "rebound" { // the check that a naive sender makes before it connects
				if ips, err := resolver.LookupHost(t.Context(), "shop.example"); err != nil || ips[0] != "192.0.2.77" {
					t.Fatalf("got %v, %v", ips, err)
				}
			}
			e := b.MustEndpoint(t, c.url)
			run(t, b.deliverer(func(cfg *webhook.Config) { cfg.Policy, cfg.Resolver = webhook.Policy{}, resolver }))
			b.MustPay(t)
			programtest.WaitFor(t, "the attempt is over", func() bool { return !b.deliveries(t, e)[0].Last.At.IsZero() })
			if d := b.deliveries(t, e)[0]; d.Last.Error != webhook.ErrorAddress || d.Last.Status != 0 || d.Status != payment.DeliveryPending {
				t.Errorf("got %+v", d.Last)
			}
			if c.addresses != nil && asked.Load() == 0 {
				t.Error("the name was not resolved by the test's server")
			}
		})
	}
	t.Cleanup(func() {
		if n := len(secretService.messages()); n != 0 {
			t.Errorf("%d requests came through", n)
		}
	})
}

func TestErrorClasses(t *testing.T) {
	t.Parallel()
	tlsServer := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(tlsServer.Close)
	plain := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	cut := newReceiver(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	slow := newReceiver(t, func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
	for name, c := range map[string]struct{ url, want string }{
		"unknown authority": {tlsServer.URL, webhook.ErrorTLS},
		"no TLS":            {strings.Replace(plain.URL, "http:", "https:", 1), webhook.ErrorTLS},
		"refused":           {closed.URL, webhook.ErrorConnection},
		"cut":               {cut.URL, webhook.ErrorConnection},
		"status":            {plain.URL, webhook.ErrorStatus},
		"slow":              {slow.URL, webhook.ErrorTimeout},
		"no such name":      {"http://nowhere.invalid", webhook.ErrorDNS},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			e := b.MustEndpoint(t, c.url)
			offline := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no network") }}
			run(t, b.deliverer(func(cfg *webhook.Config) {
				cfg.Resolver = offline
				if c.want == webhook.ErrorTimeout {
					cfg.Timeout = 50e6
				}
			}))
			b.MustPay(t)
			programtest.WaitFor(t, "the attempt is over", func() bool { return !b.deliveries(t, e)[0].Last.At.IsZero() })
			if got := b.deliveries(t, e)[0].Last.Error; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
