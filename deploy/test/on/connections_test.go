package on_test

import (
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// connectionRule finds the published port, Envoy's port, the set and the limit of a rule.
var connectionRule = regexp.MustCompile(
	`tcp dport \{ (\d+), (\d+) \} add @(https?[46]) \{ .* ct count over (\d+) \} counter reject with tcp reset`)

// TestConnectionRules checks that the rules of nftables limit the ports at which clients reach
// Envoy, for both versions of IP. It takes more than ten addresses to use up Envoy's connections.
func TestConnectionRules(t *testing.T) {
	t.Parallel()
	published := map[string]string{} // by Envoy's port
	for _, p := range mustLoad(t, "compose.yaml").Services["front"].Ports {
		published[strconv.Itoa(int(p.Target))] = p.Published
	}
	all := map[string]int{"8443": 20_000, "8000": 2000}
	var limited []string
	rules := string(mustRead(t, "deploy/on/nftables/causeway.nft"))
	for _, rule := range connectionRule.FindAllStringSubmatch(rules, -1) {
		outside, inside, set := rule[1], rule[2], rule[3]
		if published[inside] != outside {
			t.Errorf("%s: Envoy's port %s is published as %q, want %s", set, inside, published[inside], outside)
		}
		if most, err := strconv.Atoi(rule[4]); err != nil || most == 0 || 10*most >= all[inside] {
			t.Errorf("%s: an address may have %s of %d connections", set, rule[4], all[inside])
		}
		limited = append(limited, set+":"+inside)
	}
	slices.Sort(limited)
	if want := []string{"http4:8000", "http6:8000", "https4:8443", "https6:8443"}; !slices.Equal(limited, want) {
		t.Errorf("limited: got %v, want %v", limited, want)
	}
}
