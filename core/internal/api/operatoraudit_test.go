package api_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/coretest"
	"github.com/causeway-pay/causeway/core/internal/operator"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// TestAuditRecords checks that each action leaves one record, by API and by command line, with the
// state before and after. Refused and repeated actions leave one too, and no record holds a secret.
func TestAuditRecords(t *testing.T) {
	t.Parallel()
	b, p := operated(t)
	before := len(coretest.MustAuditRecords(t, b.core.Admin()))
	path := merchants + "/" + b.merchant
	key := MustDecode[v1.APIKey](t, p.post(t, path+"/api_keys", `{"mode":"live","kind":"secret"}`, keyed("k1")), 201)
	p.post(t, path+"/api_keys", `{"mode":"live","kind":"secret"}`, keyed("k1"))
	p.do(t, "PATCH", path, `{"unlinked_refunds":true}`)
	p.do(t, "PATCH", path, `{"cutoff":"25:00"}`)
	p.get(t, path)
	p.post(t, merchants, `{"name":"x"}`, as("guess"))
	p.do(t, "DELETE", path+"/api_keys/"+key.ID+"?force=true", "")
	if err := b.core.Admin().SetUnlinkedRefunds(t.Context(), b.merchant, false); err != nil {
		t.Fatal(err)
	}
	if err := b.core.Admin().RevokeKey(t.Context(), "key_0000000000001", false); err == nil {
		t.Error("revoked a key that is not there")
	}
	if err := b.core.Admin().DisableMerchant(t.Context(), "mer_0000000000001", true); err == nil {
		t.Error("disabled a merchant that is not there")
	}
	want := []struct{ actor, address, action, object, outcome, before, after string }{
		{"operator", "127.0.0.1", "api_keys.create", key.ID, "done", "", `"status":"active"`},
		{"operator", "127.0.0.1", "api_keys.create", key.ID, "replayed", "", ""},
		{"operator", "127.0.0.1", "merchants.update", b.merchant, "done", `"unlinked_refunds":false`, `"unlinked_refunds":true`},
		{"operator", "127.0.0.1", "merchants.update", b.merchant, "invalid_value", "", ""},
		{"operator", "127.0.0.1", "api_keys.revoke", key.ID, "done", `"status":"active"`, `"status":"revoked"`},
		{"cli ", "", "merchants.update", b.merchant, "done", `"unlinked_refunds":true`, `"unlinked_refunds":false`},
		{"cli ", "", "api_keys.revoke", "key_0000000000001", "failed", "", ""},
		{"cli ", "", "merchants.disable", "mer_0000000000001", "failed", "", ""},
	}
	got := coretest.MustAuditRecords(t, b.core.Admin())[before:]
	if len(got) != len(want) {
		t.Fatalf("got %d records, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		r := got[i]
		if !strings.HasPrefix(r.Actor, w.actor) || r.ClientAddress != w.address || r.Action != w.action || r.Outcome != w.outcome ||
			r.ObjectID != w.object || !strings.Contains(string(r.Before), w.before) || !strings.Contains(string(r.After), w.after) ||
			(w.before == "") != (r.Before == nil) || (w.after == "") != (r.After == nil) {
			t.Errorf("record %d: got %+v, want %+v", i, r, w)
		}
		if r.Sequence != int64(before+i+1) || !r.At.Equal(birth) && r.At.Before(birth) {
			t.Errorf("record %d: sequence %d at %s", i, r.Sequence, r.At)
		}
	}
	var export bytes.Buffer
	if err := b.core.Admin().ExportAudit(t.Context(), &export); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(export.String(), key.Secret.Reveal()) || strings.Contains(export.String(), token) {
		t.Error("a secret is in the audit record")
	}
	n := 0
	for line := range strings.Lines(export.String()) {
		var r operator.AuditRecord
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if n++; r.Sequence != int64(n) {
			t.Errorf("line %d has sequence %d", n, r.Sequence)
		}
	}
	if _, err := b.core.Admin().VerifyAudit(t.Context(), ""); err != nil {
		t.Error(err)
	}
}
