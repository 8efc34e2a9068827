package config

import (
	"errors"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
)

// maxSocketPath is the longest path of a unix socket on Linux.
const maxSocketPath = 107

// Address is an address of a listener: the Path of a unix socket, or Host and Port.
type Address struct {
	Path string
	Host string
	Port uint16
}

// ParseAddress reads unix:PATH or host:port.
func ParseAddress(text string) (Address, error) {
	if path, ok := strings.CutPrefix(text, "unix:"); ok {
		switch {
		case path == "" || path != filepath.Clean(path):
			return Address{}, errors.New("unix: want a path without //, and without the segments . and .. in it")
		case len(path) > maxSocketPath:
			return Address{}, errors.New("want a path of at most 107 bytes for a unix socket")
		}
		return Address{Path: path}, nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return Address{}, errors.New("an address must be unix:PATH or host:port")
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return Address{}, errors.New("a port must be a number from 1 to 65535")
	}
	if _, err := netip.ParseAddr(host); err != nil && !isHost(host) {
		return Address{}, errors.New("want an IP address or a host name in lower case before the port")
	}
	return Address{Host: host, Port: uint16(n)}, nil
}

// Addresses splits a comma-separated list of addresses.
func Addresses(text string) []string {
	all := strings.Split(text, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// IsUnix reports whether it is a unix socket.
func (a Address) IsUnix() bool { return a.Path != "" }

// IsIP reports whether the host is an IP address.
func (a Address) IsIP() bool {
	_, err := netip.ParseAddr(a.Host)
	return err == nil
}

// ip returns the host's address, or the zero address for a name.
func (a Address) ip() netip.Addr {
	if a.Host == "localhost" {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	ip, err := netip.ParseAddr(a.Host)
	if err != nil {
		return netip.Addr{}
	}
	return ip.Unmap()
}

func (a Address) isLoopback() bool { return a.ip().IsLoopback() }

// Overlaps reports whether two listeners on one machine would conflict. A wildcard address covers
// IPv4 and IPv6, because our programs listen on both.
func (a Address) Overlaps(b Address) bool {
	switch {
	case a.IsUnix() || b.IsUnix():
		return a.Path == b.Path
	case a.Port != b.Port:
		return false
	}
	return a.Host == b.Host || a.ip().IsUnspecified() || b.ip().IsUnspecified() || a.ip().IsValid() && a.ip() == b.ip()
}

// Reaches reports whether a connection to b on the same machine certainly reaches a listener on a.
// An address other than loopback may belong to another machine.
func (a Address) Reaches(b Address) bool {
	return a.Overlaps(b) && (b.IsUnix() || b.isLoopback() || b.ip().IsUnspecified() || !a.ip().IsUnspecified())
}

// String returns the form that ParseAddress reads.
func (a Address) String() string {
	if a.IsUnix() {
		return "unix:" + a.Path
	}
	return net.JoinHostPort(a.Host, strconv.Itoa(int(a.Port)))
}

// isHost reports whether text is a DNS name, in lower case.
func isHost(text string) bool {
	if text == "" || len(text) > 253 {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" ||
			label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}
