package core_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
)

// TestInventory: every secret and key is listed, with its age and next rotation, and none is shown.
func TestInventory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustToken(t, visa) // the vault has a key from the start on
	b.mustEndpoint(t)
	must(t, b.rotateRoot(t))
	file := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(file, []byte("hidden in a file"), 0o600))
	must(t, os.Chtimes(file, birth, birth))
	getenv := func(name string) string {
		return map[string]string{"CAUSEWAY_FILTER_TOKEN_FILE": file, "CAUSEWAY_FILTER_SECRET": "hidden in the environment"}[name]
	}
	list := func() map[string]core.Secret {
		t.Helper()
		all, err := b.core.Inventory(t.Context(), getenv)
		must(t, err)
		out := map[string]core.Secret{}
		for _, s := range all {
			if s.Algorithm == "" || s.Use == "" || s.Rotate == "" || s.Count < 1 {
				t.Errorf("incomplete: %+v", s)
			}
			out[s.Name] = s
		}
		if text := fmt.Sprintf("%+v", all); strings.Contains(text, "hidden") {
			t.Errorf("a secret is shown: %s", text)
		}
		return out
	}
	b.again(t)
	got := list()
	for name, rotates := range map[string]bool{
		"root secret 1": false, "root secret 2": true, "card-fingerprint key": false, "request-fingerprint key": false, "webhook-secret key": false,
		"audit-record key": false, "vault-kek key": false, "card vault keys": true, "API keys": false, "webhook signing secrets": false,
		"CAUSEWAY_FILTER_TOKEN": true, "CAUSEWAY_FILTER_SECRET": false, // its age is unknown
	} {
		s, there := got[name]
		if !there || (s.NextRotation != nil) != rotates || s.Overdue || (s.Since == nil) != (name == "CAUSEWAY_FILTER_SECRET") {
			t.Errorf("%s: got %+v, listed %t", name, s, there)
		}
	}
	if len(got) != 12 {
		t.Errorf("got %d kinds, want 12", len(got))
	}
	b.clock.Advance(core.RotateEvery + 48*time.Hour)
	got = list()
	if s := got["root secret 2"]; !s.Overdue || *s.AgeDays < 366 {
		t.Errorf("a year later: got %+v", s)
	}
	if s := got["CAUSEWAY_FILTER_TOKEN"]; !s.Overdue {
		t.Errorf("a year later: got %+v", s)
	}
}
