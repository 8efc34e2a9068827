package dropin_test

import (
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/shared/dropin"
)

func TestPaths(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][2]bool{
		"/xml/v1/request.api": {true, false}, "/xml/v1/request.api/": {true, false},
		"/xml/v1/request.apis": {}, "/xml/v1/request.api/x": {}, "/xml/v1": {},
		"/pts/v2/payments": {false, true}, "/pts/": {false, true}, "/notification-subscriptions/v2/webhooks": {false, true},
		"/pts": {false, true}, "/unifiedrisk": {false, true}, "/acp/v1/enrollments": {false, true},
		"/nrtf/v1/webhooks/1/replays": {false, true}, "/merchant-mgmt/v3/merchant-batch-jobs": {false, true},
		"/ptsd/v2/payments": {}, "/ptsd": {}, "pts": {}, "/v1/pts/": {}, "//pts/": {}, "/": {}, "": {},
		"/v1/transactions": {},
	} {
		if got := [2]bool{dropin.IsA(path), dropin.IsB(path)}; got != want {
			t.Errorf("%q: got %v, want %v", path, got, want)
		}
	}
}

func TestFamiliesAreDistinct(t *testing.T) {
	t.Parallel()
	families := dropin.FamiliesB()
	if !slices.IsSorted(families) || len(slices.Compact(slices.Clone(families))) != len(families) {
		t.Errorf("got %v, want them sorted, and each once", families)
	}
	families[0] = "v1"
	if dropin.IsB("/v1/transactions") {
		t.Error("a caller changed the families")
	}
}
