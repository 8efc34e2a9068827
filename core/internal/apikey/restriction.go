package apikey

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// MaxRestrictions is the largest number of addresses, and of origins, to which a key is restricted.
const MaxRestrictions = 32

// The lists that ParseAddresses and CheckOrigins accept, in words.
const (
	WantAddresses = `at most 32 IP addresses or networks without host bits, such as "203.0.113.7" and "2001:db8::/32"`
	WantOrigins   = `at most 32 origins as browsers send them, such as "https://shop.example" and "http://localhost:8000"`
)

// ParseAddresses reads the client addresses that may use a key: addresses, and networks in CIDR
// form. It returns false if the list is not as WantAddresses describes.
func ParseAddresses(in []string) ([]netip.Prefix, bool) {
	out := []netip.Prefix{}
	for _, text := range in {
		if !strings.Contains(text, "/") {
			text += "/32"
			if strings.Contains(text, ":") {
				text = strings.TrimSuffix(text, "32") + "128"
			}
		}
		network, err := netip.ParsePrefix(text) // it refuses a zone
		if err != nil || network != network.Masked() || network.Addr().Is4In6() {
			return nil, false
		}
		if !slices.Contains(out, network) {
			out = append(out, network)
		}
	}
	return out, len(in) <= MaxRestrictions
}

// origin matches an origin with any port.
var origin = regexp.MustCompile(`^(https?)://(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::([1-9][0-9]{0,4}))?$`)

// CheckOrigins reports whether a list of origins is as WantOrigins describes it. Browsers omit the
// default port of a scheme.
func CheckOrigins(in []string) bool {
	for _, text := range in {
		found := origin.FindStringSubmatch(text)
		if found == nil || found[1]+":"+found[2] == "http:80" || found[1]+":"+found[2] == "https:443" {
			return false
		}
	}
	return len(in) <= MaxRestrictions
}
