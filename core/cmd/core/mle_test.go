package main

import (
	"regexp"
	"strings"
	"testing"
)

// TestMLERequirements announces, lists and withdraws a requirement at the command line.
func TestMLERequirements(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	MustPrint(t, "merchants", "create", "Shop", "--data", data)
	made := MustPrint(t, "mle", "announce", "POST /v1/tokens", "POST /v1/transactions", "--from", "2999-01-31", "--data", data)
	if !regexp.MustCompile(`^mlr_[0-9a-z]{13}$`).MatchString(made) {
		t.Fatalf("got %q", made)
	}
	row := made + ` +\S+ +2999-01-31T00:00:00Z +%s +POST /v1/tokens, POST /v1/transactions\n`
	list := func(withdrawn string) {
		t.Helper()
		_, stdout, _ := run(t, "mle", "list", "--data", data)
		if !regexp.MustCompile(strings.Replace(row, "%s", withdrawn, 1)).MatchString(stdout) {
			t.Errorf("got %s", stdout)
		}
	}
	list("-")
	if got := MustPrint(t, "mle", "withdraw", made, "--data", data); got != "withdrawn "+made {
		t.Errorf("got %q", got)
	}
	list(`\S+Z`)
}

// TestMLERequirementsRefused: a refusal names the fault, and announces nothing.
func TestMLERequirementsRefused(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	MustPrint(t, "merchants", "create", "Shop", "--data", data)
	for _, tt := range []struct {
		want string
		code int
		args []string
	}{
		{"want 20", 1, []string{"announce", "POST /v1/tokens", "--from", "2020-01-31"}},
		{`endpoint "POST /v1/token": want one of POST /v1/transactions, `, 1, []string{"announce", "POST /v1/token", "--from", "2999-01-31"}},
		{`endpoint "GET /v1/transactions": want one of`, 1, []string{"announce", "GET /v1/transactions", "--from", "2999-01-31"}},
		{"given twice", 1, []string{"announce", "POST /v1/tokens", "POST /v1/tokens", "--from", "2999-01-31"}},
		{"does not exist: see core mle list", 1, []string{"withdraw", "mlr_0000000000001"}},
		{"see core mle list", 1, []string{"withdraw", "mer_0000000000001"}},
		{`--from "": want a day`, 2, []string{"announce", "POST /v1/tokens"}},
		{`--from "31.01.2999": want a day`, 2, []string{"announce", "POST /v1/tokens", "--from", "31.01.2999"}},
		{"mle: want announce", 2, []string{"announce", "--from", "2999-01-31"}},
		{"mle: want announce", 2, []string{"list", "--from", "2999-01-31"}},
		{"mle: want announce", 2, nil},
	} {
		code, _, stderr := run(t, append(append([]string{"mle"}, tt.args...), "--data", data)...)
		if code != tt.code || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v: got %d, %q, want %d with %q", tt.args, code, stderr, tt.code, tt.want)
		}
	}
	if _, stdout, _ := run(t, "mle", "list", "--data", data); strings.Contains(stdout, "mlr_") {
		t.Errorf("got %s, want none", stdout)
	}
}
