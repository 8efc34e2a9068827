package credentials_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestNameTwice: another file has a login of the same name, for example a copy that is not edited
// yet. The order of the files does not decide whose money it is: the last valid version stays.
func TestNameTwice(t *testing.T) {
	t.Parallel()
	valid := fmt.Sprintf(loginFile, "eu", "k5")
	other := strings.ReplaceAll(valid, "sk_test_eu", "sk_test_other")
	for name, copied := range map[string]string{
		"the same key": other, "another key": strings.ReplaceAll(other, "k5", "k0"),
		"at fault": strings.ReplaceAll(other, "sk_test", "pk_test"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, first := range []bool{true, false} {
				b := setup(t)
				b.mustAdd(t, "5.yaml", valid)
				mine := [2]string{"eu", "k5"}
				b.wantKeys(t, map[[2]string]string{mine: "sk_test_eu"})
				if b.mustAdd(t, map[bool]string{true: "0.yaml", false: "9.yaml"}[first], copied); !first {
					b.mustAdd(t, "8.yaml", copied)
				}
				b.wantKeys(t, map[[2]string]string{mine: "sk_test_eu", {"eu", "k0"}: ""})
				if !b.store.Broken(t.Context()) {
					t.Error("the store does not report the fault")
				}
			}
		})
	}
}

// TestNameTwiceB is TestNameTwice for the merchants and the keys of provider-b.
func TestNameTwiceB(t *testing.T) {
	t.Parallel()
	valid := fmt.Sprintf(keyFileB, "here")
	for name, copied := range map[string]string{
		"merchant": strings.ReplaceAll(strings.ReplaceAll(valid, "here-key", "other-key"), "sk_test_here", "sk_test_other"),
		"key":      strings.ReplaceAll(fmt.Sprintf(keyFileB, "other"), "other-key", "here-key"),
		"both":     strings.ReplaceAll(valid, "sk_test_here", "sk_test_other"),
		"at fault": strings.ReplaceAll(strings.ReplaceAll(fmt.Sprintf(keyFileB, "other"), "other-key", "here-key"),
			"}]}]", "}, {id: bad, shared_secret: short}]}]"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, files := range [][]string{{"0.yaml"}, {"9.yaml"}, {"0.yaml", "9.yaml"}} {
				b := setup(t)
				b.mustAdd(t, "5.yaml", valid)
				b.wantKeysB(t, map[string]bool{"here-key": true})
				for _, file := range files {
					b.mustAdd(t, file, copied)
				}
				b.clock.Advance(time.Second)
				k, found := b.store.ProviderBKey(t.Context(), "here-key")
				if !found || k.Login.ID != "here" {
					t.Fatalf("%v: got %t and %+v, want the key of here", files, found, k.Login)
				}
				if g, _ := k.Login.Grant("here"); g.APIKey.Reveal() != "sk_test_here" {
					t.Errorf("%v: the login pays with %s", files, g.APIKey.Reveal())
				}
				b.wantKeysB(t, map[string]bool{"other-key": false})
			}
		})
	}
}

// TestFaultGrantsNothing: an entry at fault lets a valid login act for another merchant. It grants
// nothing, and takes nothing that the last valid version grants.
func TestFaultGrantsNothing(t *testing.T) {
	t.Parallel()
	const portfolio = "provider_b: [{merchant_id: group, portfolio: [%s], " +
		"keys: [{id: group-key, shared_secret: " + secretB + "}]}]\n"
	b := setup(t)
	b.mustAdd(t, "1.yaml", fmt.Sprintf(portfolio, "member"))
	b.mustAdd(t, "2.yaml", fmt.Sprintf(keyFileB, "member"))
	b.mustAdd(t, "3.yaml", fmt.Sprintf(keyFileB, "other"))
	b.wantKeysB(t, map[string]bool{"group-key": true})
	twice := fmt.Sprintf(portfolio, "other")
	for _, fault := range []string{strings.Replace(twice, secretB, "short", 1), twice} {
		b.mustAdd(t, "4.yaml", fault)
		b.wantKeysB(t, map[string]bool{"group-key": true})
		k, _ := b.store.ProviderBKey(t.Context(), "group-key")
		for merchant, want := range map[string]bool{"member": true, "other": false} {
			if _, got := k.Login.Grant(merchant); got != want {
				t.Errorf("it acts for %s: got %t, want %t", merchant, got, want)
			}
		}
	}
}
