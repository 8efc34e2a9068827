package apikey

import (
	"math"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// MaxRestrictions is the largest number of addresses, and of origins, to which a key is restricted.
const MaxRestrictions = 32

// The lists that ParseAddresses and CheckOrigins accept, in words.
const (
	WantAddresses = `at most 32 IP addresses or networks without host bits, such as "203.0.113.7" and "2001:db8::/32"`
	WantOrigins   = `at most 32 origins as browsers send them, such as "https://shop.example", "http://localhost:8000" ` +
		`and "http://[::1]:8000"`
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
var origin = regexp.MustCompile(`^(https?)://(?:[a-z0-9._-]{1,253}|\[([0-9a-f:]{2,39})\])(?::([1-9][0-9]{0,4}))?$`)

// CheckOrigins reports whether a list of origins is as WantOrigins describes it. Browsers omit the
// default port of a scheme, and write an IPv6 address in its shortest form.
func CheckOrigins(in []string) bool {
	for _, text := range in {
		found := origin.FindStringSubmatch(text)
		if found == nil || found[1]+":"+found[3] == "http:80" || found[1]+":"+found[3] == "https:443" {
			return false
		}
		if a, err := netip.ParseAddr(found[2]); found[2] != "" && (err != nil || a.String() != found[2]) {
			return false
		}
		if port, err := strconv.Atoi(found[3]); found[3] != "" && (err != nil || port > math.MaxUint16) {
			return false
		}
	}
	return len(in) <= MaxRestrictions
}
