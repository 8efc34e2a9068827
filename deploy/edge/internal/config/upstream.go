package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

func (c *Config) checkUpstreams(f *faults) {
	for _, called := range slices.Sorted(maps.Keys(c.Upstreams)) {
		u, key := c.Upstreams[called], "upstreams."+called
		if !name.MatchString(called) {
			f.add(key, "a name has at most 32 lower-case letters, digits and -, and begins with a letter")
		}
		if slices.Contains(reserved, called) {
			f.add(key, "want another name: %s are reserved", strings.Join(reserved, ", "))
		}
		first := checkSeveral(f, key+".address", u.Address)
		several := len(Addresses(u.Address)) > 1
		switch {
		case u.Health == "" && several:
			f.add(key+".health",
				"want a path, because there are several addresses: a server reports there that it is about to stop")
		case u.Health != "":
			if p, err := ParsePattern(u.Health); err != nil || p.Rest || slices.Contains(p.Segments, "{}") {
				f.add(key+".health", "%q: want a path without {}, /**, // and the segments . and ..", u.Health)
			}
		}
		switch {
		case u.CA == "" && u.ServerName != "":
			f.add(key+".server_name", "remove it, or set ca: without ca there is no TLS")
		case u.ServerName != "" && !isHost(u.ServerName):
			f.add(key+".server_name", "%q is not a host name in lower case", u.ServerName)
		case u.CA != "" && u.ServerName == "" && first.IsUnix():
			f.add(key+".server_name", "needed with a unix socket: the name that the certificate must have")
		case u.CA != "" && u.ServerName == "" && several:
			f.add(key+".server_name", "want the name in the servers' certificates, because there are several addresses")
		}
		if u.CA == "" {
			continue
		}
		var err error
		u.Authority, err = readAuthorities(u.CA)
		f.err(key+".ca", err)
		c.Upstreams[called] = u
	}
	if c.ExtProc.Address == "" {
		return
	}
	checkSeveral(f, "extproc.address", c.ExtProc.Address)
	if t := c.ExtProc.MessageTimeout; t < 100*time.Millisecond || t > time.Minute {
		f.add("extproc.message_timeout", "%s: want 100ms to 1m", t)
	}
}

var errMixed = errors.New("unix sockets and host names cannot be mixed")

// checkSeveral checks one address or several, and returns the first.
func checkSeveral(f *faults, key, text string) Address {
	var (
		first        Address
		seen         []string
		sockets, dns bool
	)
	for i, one := range Addresses(text) {
		a, err := ParseAddress(one)
		if err == nil && slices.Contains(seen, a.String()) {
			err = errors.New("listed twice")
		}
		if err != nil {
			f.err(key, fmt.Errorf("%q: %w", one, err))
			continue
		}
		if i == 0 {
			first = a
		}
		seen = append(seen, a.String())
		sockets, dns = sockets || a.IsUnix(), dns || !a.IsUnix() && !a.IsIP()
	}
	if sockets && dns {
		f.err(key, errMixed)
	}
	return first
}
