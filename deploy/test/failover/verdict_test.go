package failover_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// TestVerdict checks that the oracle reports each possible fault of a payment, and no fault without
// one.
func TestVerdict(t *testing.T) {
	t.Parallel()
	one := func(id, status string, captured int) jsontext.Value {
		return jsontext.Value(fmt.Sprintf(`{"id":%q,"status":%q,"amount_captured":%d,"reference":"k"}`, id, status, captured))
	}
	acknowledged, other, failed := one("txn_1", "captured", 100), one("txn_2", "captured", 100), one("txn_0", "failed", 0)
	for name, c := range map[string]struct {
		there []jsontext.Value
		taken map[string]int
		want  string
	}{
		"as acknowledged":           {[]jsontext.Value{acknowledged}, map[string]int{"txn_1": 1}, ""},
		"failed before":             {[]jsontext.Value{failed, acknowledged}, map[string]int{"txn_1": 1}, ""},
		"gone":                      {nil, map[string]int{"txn_1": 1}, "lost"},
		"only a failed one remains": {[]jsontext.Value{failed}, nil, "lost"},
		"otherwise": {
			[]jsontext.Value{one("txn_1", "captured", 99)},
			map[string]int{"txn_1": 1},
			"differs",
		},
		"twice": {
			[]jsontext.Value{acknowledged, other},
			map[string]int{"txn_1": 1, "txn_2": 1},
			"twice",
		},
		"taken twice": {[]jsontext.Value{acknowledged}, map[string]int{"txn_1": 2}, "twice"},
		"not taken":   {[]jsontext.Value{acknowledged}, nil, "twice"},
		"failed before, and taken for it": {
			[]jsontext.Value{failed, acknowledged},
			map[string]int{"txn_0": 1, "txn_1": 1},
			"twice",
		},
	} {
		v := &verdict{}
		v.compare(&payment{key: "k", body: string(acknowledged)}, c.there, c.taken)
		faults := v.Faults()
		if found := strings.Join(faults, "\n"); c.want == "" && found != "" || !strings.HasPrefix(found, c.want) ||
			len(faults) > 2 {
			t.Errorf("%s: %q, want %q", name, found, c.want)
		}
	}
}
