package config

import (
	"maps"
	"slices"
)

// listener is an address in the file.
type listener struct {
	key, text string
	tcp, ip   bool // its required form
	envoy     bool // Envoy listens or connects there, not the edge
	at        Address
}

// checkAddresses checks the addresses of all listeners. No two may share one, and no upstream may
// have the address of one.
func (c *Config) checkAddresses(f *faults) {
	all := []listener{
		{key: "listen.https", text: c.Listen.HTTPS, tcp: true, ip: true, envoy: true},
		{key: "listen.http", text: c.Listen.HTTP, tcp: true, ip: true, envoy: true},
		{key: "xds.listen", text: c.XDS.Listen},
		{key: "http", text: c.HTTP},
		{key: "admin", text: c.Admin, tcp: true},
	}
	if a := c.Certificates.ACME; a != nil {
		all = append(all, listener{key: "certificates.acme.listen", text: a.Listen})
	}
	var taken []listener
	for _, p := range all {
		if p.text == "" && (p.key == "listen.http" || p.key == "admin") {
			continue
		}
		var err error
		p.at, err = ParseAddress(p.text)
		by := slices.IndexFunc(taken, func(q listener) bool { return c.sameMachine(p, q) && p.at.Overlaps(q.at) })
		switch {
		case err != nil:
			f.add(p.key, "%q: %s", p.text, err)
		case p.tcp && p.at.IsUnix():
			f.add(p.key, "%q: want host:port, not a unix socket", p.text)
		case p.ip && !p.at.IsIP():
			f.add(p.key, "%q: want an IP address and a port, because Envoy listens there", p.text)
		case by >= 0:
			f.add(p.key, "%q: this is also the address of %s: choose another one", p.text, taken[by].key)
		default:
			taken = append(taken, p)
		}
	}
	c.checkUpstreamAddresses(f, taken)
}

// checkUpstreamAddresses rejects an upstream at the address of one of our listeners.
func (c *Config) checkUpstreamAddresses(f *faults, taken []listener) {
	var upstreams []listener
	for _, address := range Addresses(c.ExtProc.Address) {
		upstreams = append(upstreams, listener{key: "extproc.address", text: address, envoy: true})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Upstreams)) {
		for _, address := range Addresses(c.Upstreams[name].Address) {
			upstreams = append(upstreams, listener{key: "upstreams." + name + ".address", text: address, envoy: true})
		}
	}
	for _, p := range upstreams {
		a, err := ParseAddress(p.text)
		if err != nil {
			continue // reported by another check
		}
		by := slices.IndexFunc(taken, func(q listener) bool { return c.sameMachine(p, q) && q.at.Reaches(a) })
		if by >= 0 {
			f.add(p.key, "%q: this is the address of %s: want the address of the upstream", p.text, taken[by].key)
		}
	}
}

// sameMachine reports whether two listeners are on one machine. Envoys that do not connect through
// a unix socket may be on others.
func (c *Config) sameMachine(p, q listener) bool {
	a, err := ParseAddress(c.XDS.Listen)
	return p.envoy == q.envoy || err != nil || a.IsUnix() || a.isLoopback()
}
