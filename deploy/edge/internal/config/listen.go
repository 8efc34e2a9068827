package config

import (
	"maps"
	"slices"
)

// place is an address in the file.
type place struct {
	key, text string
	tcp, ip   bool // what it must be
	envoy     bool // it is on Envoy's machine, not on ours
	at        Address
}

// checkAddresses looks at those of whoever listens. No two may share one, and nobody else can be reached at one.
func (c *Config) checkAddresses(f *faults) {
	all := []place{
		{key: "listen.https", text: c.Listen.HTTPS, tcp: true, ip: true, envoy: true},
		{key: "listen.http", text: c.Listen.HTTP, tcp: true, ip: true, envoy: true},
		{key: "xds.listen", text: c.XDS.Listen},
		{key: "http", text: c.HTTP},
		{key: "admin", text: c.Admin, tcp: true},
	}
	if a := c.Certificates.ACME; a != nil {
		all = append(all, place{key: "certificates.acme.listen", text: a.Listen})
	}
	var taken []place
	for _, p := range all {
		if p.text == "" && (p.key == "listen.http" || p.key == "admin") {
			continue
		}
		var err error
		p.at, err = ParseAddress(p.text)
		by := slices.IndexFunc(taken, func(q place) bool { return c.meet(p, q) && p.at.Overlaps(q.at) })
		switch {
		case err != nil:
			f.add(p.key, "%q: %s", p.text, err)
		case p.tcp && p.at.IsUnix():
			f.add(p.key, "%q: this one is a host and a port", p.text)
		case p.ip && !p.at.IsIP():
			f.add(p.key, "%q: Envoy listens on an IP address", p.text)
		case by >= 0:
			f.add(p.key, "%q is %s already", p.text, taken[by].key)
		default:
			taken = append(taken, p)
		}
	}
	c.checkReached(f, taken)
}

// checkReached refuses to have requests go where one of ours listens.
func (c *Config) checkReached(f *faults, taken []place) {
	var reached []place
	for _, address := range Addresses(c.ExtProc.Address) {
		reached = append(reached, place{key: "extproc.address", text: address, envoy: true})
	}
	for _, called := range slices.Sorted(maps.Keys(c.Upstreams)) {
		for _, address := range Addresses(c.Upstreams[called].Address) {
			reached = append(reached, place{key: "upstreams." + called + ".address", text: address, envoy: true})
		}
	}
	for _, p := range reached {
		a, err := ParseAddress(p.text)
		if err != nil {
			continue // that is said elsewhere
		}
		by := slices.IndexFunc(taken, func(q place) bool { return c.meet(p, q) && q.at.Answers(a) })
		if by >= 0 {
			f.add(p.key, "%q: %s listens there", p.text, taken[by].key)
		}
	}
}

// meet reports whether two are on one machine: Envoys that do not ask by a unix socket may be on others.
func (c *Config) meet(p, q place) bool {
	a, err := ParseAddress(c.XDS.Listen)
	return p.envoy == q.envoy || err != nil || a.IsUnix() || a.isLoopback()
}
