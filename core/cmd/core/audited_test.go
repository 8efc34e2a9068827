package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCommandsAreRecorded: each command that changes state writes an audit record, and commands
// that only read write none.
func TestCommandsAreRecorded(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	must := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := run(t, append(args, "--data", data)...)
		if code != 0 {
			t.Fatalf("%v: got %d, %s", args, code, stderr)
		}
		return strings.TrimSpace(stdout)
	}
	must("migrate")
	merchant := must("merchants", "create", "Shop")
	must("merchants", "update", merchant, "--unlinked-refunds", "on")
	must("merchants", "disable", merchant)
	must("merchants", "enable", merchant)
	must("keys", "create", "--merchant", merchant)
	key := regexp.MustCompile(`key_[0-9a-z]{13}`).FindString(must("keys", "list", "--merchant", merchant))
	must("keys", "roll", key)
	must("keys", "revoke", key, "--force")
	must("operators", "create", "ann")
	operator := regexp.MustCompile(`opr_[0-9a-z]{13}`).FindString(must("operators", "list"))
	must("operators", "revoke", operator)
	requirement := must("mle", "announce", "POST /v1/tokens", "--from", "2999-01-31")
	must("mle", "withdraw", requirement)
	must("mle", "withdraw", requirement) // changes nothing
	serving(t, data, func(string) {})
	must("vault", "rotate")
	must("secrets", "rotate")
	must("backup", "--to", filepath.Join(t.TempDir(), "backup"))
	must("migrate")
	for _, reading := range [][]string{{"merchants", "list"}, {"keys", "inventory"}, {"steps", "list"}, {"audit", "verify"}, {"mle", "list"}} {
		must(reading...)
	}
	var got []string
	for _, r := range regexp.MustCompile(`"action":"([a-z_.]+)"`).FindAllStringSubmatch(must("audit", "export"), -1) {
		got = append(got, r[1])
	}
	want := []string{
		"migrate", "merchants.create", "merchants.update", "merchants.disable", "merchants.enable", "api_keys.create", "api_keys.roll",
		"api_keys.revoke", "operators.create", "operators.revoke", "mle_requirements.announce",
		"mle_requirements.withdraw", "vault.rotate", "secrets.rotate", "backup", "migrate", "audit.export",
	}
	if got = slices.Compact(got); !slices.Equal(got, want) { // some have a record before and one after
		t.Errorf("got %v, want %v", got, want)
	}
}
