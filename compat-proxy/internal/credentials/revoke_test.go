package credentials_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

const keyFileB = "provider_b: [{merchant_id: %s, api_key: sk_test_%[1]s, keys: [{id: %[1]s-key, shared_secret: " +
	secretB + "}]}]\n"

// breaks are ways in which one file can be at fault. Each contains the last valid login of the
// file.
var breaks = map[string]string{
	"entry": "provider_a: [{name: kept, transaction_key: k9, api_key: pk_test_hidden}]",
	"yaml":  "provider_a: [",
	"key":   "provider_a: [{name: kept, transaction_key: k9, api_key: sk_test_x, colour: red}]",
	"list":  "provider_a: 7",
}

// TestRevokedDespiteABrokenFile: a broken file keeps only its last valid logins in force. All other
// files apply.
func TestRevokedDespiteABrokenFile(t *testing.T) {
	t.Parallel()
	for name, text := range breaks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.mustAdd(t, "0.yaml", fmt.Sprintf(loginFile, "kept", "k0"))
			revoked := b.mustAdd(t, "1.yaml", fmt.Sprintf(loginFile, "revoked", "k1"))
			b.mustAdd(t, "2.yaml", fmt.Sprintf(loginFile, "replaced", "old"))
			revokedB := b.mustAdd(t, "3.yaml", fmt.Sprintf(keyFileB, "gone"))
			b.mustAdd(t, "4.yaml", fmt.Sprintf(keyFileB, "here"))
			b.wantKeys(t, map[[2]string]string{{"revoked", "k1"}: "sk_test_revoked", {"replaced", "old"}: "sk_test_replaced"})
			b.wantKeysB(t, map[string]bool{"gone-key": true, "here-key": true})

			b.mustAdd(t, "0.yaml", text)
			b.mustAdd(t, "2.yaml", fmt.Sprintf(loginFile, "replaced", "new"))
			b.mustAdd(t, "5.yaml", fmt.Sprintf(loginFile, "added", "k5"))
			for _, path := range []string{revoked, revokedB} {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			b.wantKeys(t, map[[2]string]string{
				{"kept", "k0"}: "sk_test_kept", {"kept", "k9"}: "", {"shop", "one"}: "sk_test_a",
				{"revoked", "k1"}: "", {"replaced", "old"}: "", {"replaced", "new"}: "sk_test_replaced",
				{"added", "k5"}: "sk_test_added",
			})
			b.wantKeysB(t, map[string]bool{"gone-key": false, "here-key": true})
			if !b.store.Broken(t.Context()) {
				t.Error("the files are not reported as broken")
			}
			if err := b.store.Reload(); err == nil {
				t.Error("Reload: got no error, want one")
			}
			b.mustAdd(t, "0.yaml", fmt.Sprintf(loginFile, "kept", "k9"))
			b.wantKeys(t, map[[2]string]string{{"kept", "k0"}: "", {"kept", "k9"}: "sk_test_kept"})
		})
	}
}

// TestRevokedWithoutTheCredentialsFile: also a missing credentials file keeps only its own logins.
func TestRevokedWithoutTheCredentialsFile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	revoked := b.mustAdd(t, "1.yaml", fmt.Sprintf(loginFile, "revoked", "k1"))
	b.wantKeys(t, map[[2]string]string{{"revoked", "k1"}: "sk_test_revoked"})
	for _, path := range []string{revoked, b.path} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	b.wantKeys(t, map[[2]string]string{{"revoked", "k1"}: "", {"shop", "one"}: "sk_test_a"})
}

// TestRevokedMemberOfAPortfolio: the portfolio names a login that is gone, which is a fault. The
// portfolio must not act for it any more, whether its own file is valid or not.
func TestRevokedMemberOfAPortfolio(t *testing.T) {
	t.Parallel()
	const portfolio = "provider_b: [{merchant_id: group, portfolio: [stays, goes], " +
		"keys: [{id: group-key, shared_secret: " + secretB + "}]}]\n"
	for name, text := range map[string]string{
		"valid": portfolio, "yaml": "provider_b: [", "entry": strings.Replace(portfolio, secretB, "short", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.mustAdd(t, "1.yaml", fmt.Sprintf(keyFileB, "stays"))
			member := b.mustAdd(t, "2.yaml", fmt.Sprintf(keyFileB, "goes"))
			b.mustAdd(t, "3.yaml", portfolio)
			b.wantKeysB(t, map[string]bool{"goes-key": true, "group-key": true})
			b.mustAdd(t, "3.yaml", text)
			if err := os.Remove(member); err != nil {
				t.Fatal(err)
			}
			b.wantKeysB(t, map[string]bool{"goes-key": false, "stays-key": true, "group-key": true})
			key, _ := b.store.ProviderBKey(t.Context(), "group-key")
			for merchant, want := range map[string]bool{"stays": true, "goes": false, "group": false} {
				if _, got := key.Login.Grant(merchant); got != want {
					t.Errorf("the portfolio acts for %s: got %v, want %v", merchant, got, want)
				}
			}
		})
	}
}

// wantKeysB compares after a second which keys of provider-b are in force.
func (b bundle) wantKeysB(t *testing.T, want map[string]bool) {
	t.Helper()
	b.clock.Advance(time.Second)
	for id, known := range want {
		if _, got := b.store.ProviderBKey(t.Context(), id); got != known {
			t.Errorf("key %s: got %v, want %v", id, got, known)
		}
	}
}

// TestNoKeyOfAnEntryAtFault: the first key of the entry is valid, the second is not.
func TestNoKeyOfAnEntryAtFault(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mustAdd(t, "1.yaml", fmt.Sprintf(keyFileB, "a"))
	b.wantKeysB(t, map[string]bool{"a-key": true})
	b.mustAdd(t, "1.yaml", "provider_b: [{merchant_id: a, api_key: sk_test_a, keys: [{id: new, shared_secret: "+secretB+
		"}, {id: bad, shared_secret: short}]}]")
	b.wantKeysB(t, map[string]bool{"a-key": true, "new": false, "bad": false})
}

// TestBrokenFileKeepsItsDecryptionKeys keeps the keys of a broken file, and no others.
func TestBrokenFileKeepsItsDecryptionKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, own := issued()
	pair := fmt.Sprintf(", key: %q, certificate: %q}]", own.Key.Reveal(), own.Certificate)
	b.mustAdd(t, "1.yaml", "provider_b_encryption: [{kid: kept"+pair)
	removed := b.mustAdd(t, "2.yaml", "provider_b_encryption: [{kid: gone"+pair)
	wantKids := func(want map[string]bool) {
		b.clock.Advance(time.Second)
		for kid, known := range want {
			if _, got := b.store.ProviderBDecryptionKey(t.Context(), kid); got != known {
				t.Errorf("decryption key %s: got %v, want %v", kid, got, known)
			}
		}
	}
	wantKids(map[string]bool{"kept": true, "gone": true})
	if err := os.Remove(removed); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"provider_b_encryption: [", "provider_b_encryption: [{kid: kept}]"} {
		b.mustAdd(t, "1.yaml", text)
		wantKids(map[string]bool{"kept": true, "gone": false})
	}
}
