package webhook

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
)

// ErrAddress reports a connection to an address that no endpoint may have.
var ErrAddress = errors.New("webhook: address not allowed")

// maxURL is the longest URL in bytes.
const maxURL = 2048

// Policy decides to which addresses deliveries may go. The zero value allows the public internet
// only.
type Policy struct {
	// AllowPrivate also allows this machine and private networks. It is for development and tests.
	AllowPrivate bool
}

// notPublic are the IPv4 networks that are not plainly public. They are this host, private, shared
// (carrier NAT), loopback and link-local addresses, which include the clouds' metadata servers.
// Others are for protocol assignments, documentation, 6to4 relays, benchmarks, multicast and
// broadcast, or reserved. The last one is a cloud's metadata host in public space.
var notPublic = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
)

// public6 is all public IPv6. Outside of it are loopback, mapped and compatible IPv4, NAT64,
// unique local, link-local and multicast. In it, not public: protocol assignments with Teredo,
// documentation, and 6to4, which carries an IPv4 address.
var (
	public6    = netip.MustParsePrefix("2000::/3")
	notPublic6 = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}

// errNotPublic reports a host that other machines cannot reach.
var errNotPublic = errors.New("its host is not on the public internet: use a public host, or have the operator set " +
	"--webhooks-allow-private")

// CheckURL returns an error, in words for the merchant, if an endpoint may not have this URL. It
// uses no resolver: the address of a name is checked at each connection.
func (p Policy) CheckURL(text string, live bool) error {
	u, err := url.Parse(text)
	switch {
	case len(text) > maxURL:
		return errors.New("it is longer than 2048 characters")
	case err != nil || u.Opaque != "" || u.Host == "" || strings.ContainsFunc(text, notPrintable):
		return errors.New("it is not an absolute URL, such as https://shop.example/webhooks")
	case u.Scheme != "https" && (u.Scheme != "http" || live):
		return errors.New("it must begin with https://, and http:// is for test mode only")
	case u.User != nil:
		return errors.New("it has a user or a password: remove it, because the signature authenticates the sender")
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return errors.New("it has a fragment, which is never sent: remove it")
	}
	return p.checkHost(u)
}

func notPrintable(r rune) bool { return r <= ' ' || r > '~' }

// local are the names, and the ends of names, that no public resolver should resolve.
var local = []string{
	"localhost", "local", "internal", "home.arpa", "svc", "lan", "home", "corp", "intranet", "private", "test", "invalid", "onion",
}

func (p Policy) checkHost(u *url.URL) error {
	host := u.Hostname()
	port, err := portOf(u)
	if err != nil || host == "" {
		return errors.New("its host or port is not valid")
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if strings.Contains("."+name+".", "..") {
		return errors.New("its host has two dots in a row, or begins with a dot")
	}
	if p.AllowPrivate {
		return nil
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		if !allowed(ip) {
			return errNotPublic
		}
		return checkPort(u.Scheme, port)
	}
	for _, end := range local {
		if name == end || strings.HasSuffix(name, "."+end) {
			return errNotPublic
		}
	}
	if !strings.Contains(name, ".") || endsInNumber(name) {
		return errNotPublic
	}
	return checkPort(u.Scheme, port)
}

// portOf returns the port of a URL, or the default port of its scheme.
func portOf(u *url.URL) (int, error) {
	text := u.Port()
	switch {
	case text == "" && strings.HasSuffix(u.Host, ":"):
		return 0, errors.New("an empty port")
	case text == "" && u.Scheme == "http":
		return 80, nil
	case text == "":
		return 443, nil
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err == nil && n == 0 {
		err = errors.New("port 0")
	}
	return int(n), err //nolint:wrapcheck // the caller only looks at whether there is one
}

// checkPort refuses the ports of other protocols. A server of another protocol could accept a plain
// HTTP request, so plain HTTP may use only two ports.
func checkPort(scheme string, port int) error {
	switch {
	case scheme == "http" && port != 80 && port != 8080:
		return errors.New("plain http may use only port 80 or 8080")
	case scheme == "https" && port != 443 && port < 1024:
		return errors.New("https may use port 443, or a port from 1024 on")
	}
	return nil
}

// endsInNumber reports whether a resolver may read a name as an IPv4 address: 127.1, 0x7f.1. No
// public domain ends in a number.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	digits, hex := strings.CutPrefix(last, "0x")
	if hex {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// control refuses a connection to an address that is not allowed. A dialer calls it with the
// resolved address, right before it connects.
func (p Policy) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAddress, err)
	}
	ip := at.Addr()
	if p.AllowPrivate && !ip.Unmap().IsMulticast() {
		return nil
	}
	if !allowed(ip) || own(ip.Unmap()) {
		return ErrAddress
	}
	return nil
}

// allowed reports whether ip is plainly public. An IPv4 address in the form of an IPv6 address is
// not.
func allowed(ip netip.Addr) bool {
	networks := notPublic
	if !ip.Is4() {
		networks = notPublic6
		if !public6.Contains(ip) || ip.Zone() != "" {
			return false
		}
	}
	for _, network := range networks {
		if network.Contains(ip) {
			return false
		}
	}
	return true
}

// own reports whether ip is an address of this machine, even a public one: our own listeners must
// not get deliveries. It returns true if the addresses of the machine cannot be read.
func own(ip netip.Addr) bool {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	for _, a := range addresses {
		if mine, err := netip.ParsePrefix(a.String()); err == nil && mine.Addr().Unmap() == ip {
			return true
		}
	}
	return false
}
