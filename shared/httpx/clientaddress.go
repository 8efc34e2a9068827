package httpx

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/secret"
)

// The header fields by which one trusted hop forwards the client address to the next.
const (
	// ClientAddressField holds one IP address without a port: "203.0.113.7", "2001:db8::1".
	ClientAddressField = "X-Svc-Int-Client-Address"
	// HopField holds the hop secret, which proves that a trusted hop set ClientAddressField.
	HopField = "X-Svc-Int-Hop"
	// EncryptionField is set by mle-filter, and reports how a request was encrypted.
	EncryptionField = "X-Svc-Int-Mle"
	// LegacyField is set by compat-proxy in its requests to v1: LegacyClear or LegacyEncrypted, by
	// the request of the legacy client. HopField proves it.
	LegacyField = "X-Svc-Int-Legacy"
)

// The values of LegacyField.
const (
	LegacyClear     = "clear"
	LegacyEncrypted = "encrypted"
)

// hopVariable is the environment variable of the hop secret. With the suffix _FILE it names a file.
const hopVariable = "CAUSEWAY_HOP_SECRET"

// minHop is the length of 32 random bytes in base64 without padding.
const minHop = 43

// hopCharacters are the characters of base64, also in its form for URLs.
const hopCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_"

// HopSecret reads the secret by which trusted hops authenticate the client address to each other,
// from CAUSEWAY_HOP_SECRET or the file that CAUSEWAY_HOP_SECRET_FILE names. It returns the zero
// secret if neither is set, and an error if the secret is shorter than 32 random bytes in base64.
// Other characters are an error too: Envoy substitutes its commands in the header field.
func HopSecret(getenv func(string) string) (secret.String, error) {
	hop, err := config.Environment(getenv, hopVariable)
	if err != nil {
		return secret.String{}, err
	}
	if n := len(hop.Reveal()); n > 0 && n < minHop {
		return secret.String{}, fmt.Errorf("%s has %d characters: want at least %d, as from `openssl rand -base64 32`",
			hopVariable, n, minHop)
	}
	if strings.ContainsFunc(hop.Reveal(), func(c rune) bool { return !strings.ContainsRune(hopCharacters, c) }) {
		return secret.String{}, fmt.Errorf(
			"%s has a character outside of base64: want a secret as from `openssl rand -base64 32`", hopVariable)
	}
	return hop, nil
}

// forwardingFields are the header fields by which proxies commonly forward a client address. No
// program of ours reads one: any client can send them.
var forwardingFields = []string{
	"Forwarded", "X-Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Proto",
	"X-Forwarded-Server",
	"X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "X-Original-Forwarded-For", "X-Envoy-External-Address",
	"True-Client-Ip",
	"Cf-Connecting-Ip", "Fastly-Client-Ip", "X-Appengine-User-Ip", "X-Azure-Clientip",
}

// AddressOf returns the client address of r: the address in ClientAddressField if r shows the hop
// secret, else the address of the peer. It returns "" if there is neither, as behind a unix socket.
func AddressOf(hop secret.String, r *http.Request) string { return textOf(addressOf(hop, r)) }

// addressOf is AddressOf. It returns the zero address for none.
func addressOf(hop secret.String, r *http.Request) (none netip.Addr) {
	if showsHop(hop, r.Header) {
		if values := r.Header[ClientAddressField]; len(values) == 1 {
			if address, err := netip.ParseAddr(values[0]); err == nil {
				return plain(address)
			}
		}
		return none // the peer is a trusted hop, so its address is not the client's
	}
	return peerOf(r)
}

// peerOf returns the address of the peer, zero for none.
func peerOf(r *http.Request) (none netip.Addr) {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return none
	}
	return plain(peer.Addr())
}

// plain returns an address in its one form: IPv4 as IPv4, without a zone.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// textOf returns an address as text, "" for the zero address.
func textOf(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

// NetworkOf returns the network of a client address: of v4 bits if it is an IPv4 address, else of
// v6 bits. The zero address has the zero network.
func NetworkOf(address netip.Addr, v4, v6 int) netip.Prefix {
	bits := v6
	if address.Is4() {
		bits = v4
	}
	network, _ := address.Prefix(bits) // it fails for more bits than the address has
	return network
}

// SiteOf returns the network that one site can have: of 24 bits for IPv4, of 48 bits for IPv6.
func SiteOf(address netip.Addr) netip.Prefix { return NetworkOf(address, 24, 48) }

// isPrivate reports whether an address is of this machine or of a private network.
func isPrivate(a netip.Addr) bool { return a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() }

// showsHop reports whether header holds the hop secret, once. The zero secret is never shown.
func showsHop(hop secret.String, header http.Header) bool {
	values := header[HopField]
	return !hop.IsZero() && len(values) == 1 && subtle.ConstantTimeCompare([]byte(values[0]), []byte(hop.Reveal())) == 1
}

// ClientAddress puts the client address (see AddressOf) into the request's context and log event.
// It removes every forwarding header field, so that no handler behind it can read one. Use it
// inside RequestID.
func ClientAddress(hop secret.String, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := scopeFrom(r.Context())
		if s == nil {
			s = &scope{}
			r = withScope(r, s)
		}
		s.ownAddress = addressOf(hop, r)
		s.clientAddress, s.fromHop = textOf(s.ownAddress), showsHop(hop, r.Header)
		s.encrypted, s.legacy = s.fromHop && len(r.Header[EncryptionField]) > 0, legacyOf(hop, r.Header)
		if hop.IsZero() && isPrivate(s.ownAddress) { // the address of a proxy in front
			s.ownAddress = netip.Addr{}
		}
		delete(r.Header, ClientAddressField)
		delete(r.Header, HopField)
		for _, name := range forwardingFields {
			delete(r.Header, name)
		}
		next.ServeHTTP(w, r)
	})
}

// WithClientAddress returns ctx with the client address of r, unless it has one. It is for requests
// that have not passed ClientAddress yet.
func WithClientAddress(ctx context.Context, hop secret.String, r *http.Request) context.Context {
	if ClientAddressFrom(ctx) != "" {
		return ctx
	}
	return context.WithValue(ctx, scopeKey{}, &scope{clientAddress: AddressOf(hop, r)})
}

// ClientAddressFrom returns the client address of the request that ctx belongs to, as
// "203.0.113.7", or "" if there is none.
func ClientAddressFrom(ctx context.Context) string {
	if s := scopeFrom(ctx); s != nil {
		return s.clientAddress
	}
	return ""
}

// OwnAddressFrom returns the client address of the request that ctx belongs to. It returns the zero
// address if there is none, or if many clients share it: if it is private and there is no hop
// secret.
func OwnAddressFrom(ctx context.Context) netip.Addr {
	if s := scopeFrom(ctx); s != nil {
		return s.ownAddress
	}
	return netip.Addr{}
}

// LegacyOf returns the value of LegacyField, or "" if no trusted hop has set it. It also returns
// the value that ClientAddress has found.
func LegacyOf(hop secret.String, r *http.Request) string {
	if s := scopeFrom(r.Context()); s != nil && s.legacy != "" {
		return s.legacy
	}
	return legacyOf(hop, r.Header)
}

func legacyOf(hop secret.String, header http.Header) string {
	if values := header[LegacyField]; len(values) == 1 && showsHop(hop, header) {
		return values[0]
	}
	return ""
}

// ForwardLegacy sets LegacyField in a request of compat-proxy to v1. It is proven by the fields of
// ForwardClientAddress.
func ForwardLegacy(ctx context.Context, header http.Header) {
	value := LegacyClear
	if s := scopeFrom(ctx); s != nil && s.encrypted {
		value = LegacyEncrypted
	}
	header[LegacyField] = []string{value}
}

// ForwardClientAddress sets the fields that forward the client address of ctx to the next hop.
// Without a hop secret or an address it sets nothing.
func ForwardClientAddress(ctx context.Context, hop secret.String, header http.Header) {
	address := ClientAddressFrom(ctx)
	if hop.IsZero() || address == "" {
		return
	}
	header[ClientAddressField] = []string{address}
	header[HopField] = []string{hop.Reveal()}
}
