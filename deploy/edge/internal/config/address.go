package config

import (
	"errors"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
)

// maxSocketPath is what fits an address of a unix socket on Linux.
const maxSocketPath = 107

// Address is where something listens or is reached: Path of a unix socket, or Host and Port.
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
			return Address{}, errors.New("unix: is followed by a path as it is shortest")
		case len(path) > maxSocketPath:
			return Address{}, errors.New("the path of a unix socket has at most 107 bytes")
		}
		return Address{Path: path}, nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return Address{}, errors.New("an address is unix:PATH or host:port")
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return Address{}, errors.New("a port is a number from 1 to 65535")
	}
	if _, err := netip.ParseAddr(host); err != nil && !isHost(host) {
		return Address{}, errors.New("the host is neither an IP address nor a name")
	}
	return Address{Host: host, Port: uint16(n)}, nil
}

// IsUnix reports whether it is a unix socket.
func (a Address) IsUnix() bool { return a.Path != "" }

// IsIP reports whether the host needs no name server.
func (a Address) IsIP() bool {
	_, err := netip.ParseAddr(a.Host)
	return err == nil
}

// String is what ParseAddress reads.
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
