package core_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/auth"
	"github.com/causeway-pay/causeway/core/internal/datadir"
)

// TestInventory: every secret and key is listed, with its age and next rotation, and none is shown.
func TestInventory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.MustToken(t, visa) // the vault has a key from the start on
	b.mustEndpoint(t)
	must(t, b.rotateRoot(t))
	login, err := b.core.Admin().CreateOperator(t.Context(), "alice", auth.RoleAuditor, time.Time{})
	must(t, err)
	old, err := b.core.Admin().CreateOperator(t.Context(), "bob", core.RoleOperator, b.clock.Now().Add(time.Second))
	must(t, err)
	b.clock.Advance(time.Second)
	operators, err := b.core.Admin().ListOperators(t.Context())
	must(t, err)
	alice := "operator token " + operators[0].ID
	codes := fmt.Sprintf("security code key of hour %d", birth.Unix()/3600)
	file := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(file, []byte("hidden in a file"), 0o600))
	must(t, os.Chtimes(file, birth, birth))
	getenv := func(name string) string {
		return map[string]string{"CAUSEWAY_FILTER_TOKEN_FILE": file, "CAUSEWAY_FILTER_SECRET": "hidden in the environment"}[name]
	}
	list := func() map[string]datadir.Secret {
		t.Helper()
		all, err := b.core.Admin().Inventory(t.Context(), getenv)
		must(t, err)
		out := map[string]datadir.Secret{}
		for _, s := range all {
			if s.Algorithm == "" || s.Use == "" || s.Rotate == "" || s.Count < 1 {
				t.Errorf("incomplete: %+v", s)
			}
			out[s.Name] = s
		}
		text := fmt.Sprintf("%+v", all)
		if strings.Contains(text, "hidden") || strings.Contains(text, login.Reveal()) || strings.Contains(text, old.Reveal()) {
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
		alice: true, codes: false,
	} {
		s, there := got[name]
		if !there || (s.NextRotation != nil) != rotates || s.Overdue || (s.Since == nil) != (name == "CAUSEWAY_FILTER_SECRET") {
			t.Errorf("%s: got %+v, listed %t", name, s, there)
		}
	}
	if len(got) != 14 { // the expired operator token is not there
		t.Errorf("got %d kinds, want 14", len(got))
	}
	if s := got[codes]; s.Version == 0 {
		t.Errorf("%s: got version %d, want that of the vault's key", codes, s.Version)
	}
	for name, reason := range map[string]string{"card-fingerprint key": "the same card", "webhook-secret key": "merchants"} {
		if s := got[name]; !strings.HasPrefix(s.Rotate, "never: ") || !strings.Contains(s.Rotate, reason) {
			t.Errorf("%s: got %q, want that it does not rotate and why", name, s.Rotate)
		}
	}
	b.clock.Advance(datadir.RotateEvery + 48*time.Hour)
	got = list()
	if s := got["root secret 2"]; !s.Overdue || *s.AgeDays < 366 {
		t.Errorf("a year later: got %+v", s)
	}
	b.wantSeries(t, `secret_age_seconds\{secret="root secret 2"\} 3\.1795141e\+07`,
		`secret_age_seconds\{secret="`+alice+`"\} 3\.1795201e\+07`)
	for _, absent := range []string{"root secret 1", "API keys", "card-fingerprint key"} { // no alert would end
		if strings.Contains(b.scrape(t), `causeway_secret_age_seconds{secret="`+absent) {
			t.Errorf("%s has a series, although an operator rotates nothing there", absent)
		}
	}
	if s := got[alice]; !s.Overdue {
		t.Errorf("a year later: got %+v", s)
	}
	if s := got["CAUSEWAY_FILTER_TOKEN"]; !s.Overdue {
		t.Errorf("a year later: got %+v", s)
	}
}
