package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// keyID returns the id of the key with that name from the output of `keys list`.
func keyID(t *testing.T, data, merchant, name string) string {
	t.Helper()
	code, stdout, stderr := run(t, "keys", "list", "--data", data, "--merchant", merchant)
	if code != 0 || stderr != "" {
		t.Fatalf("list: got %d, %q", code, stderr)
	}
	for line := range strings.Lines(stdout) {
		if strings.Contains(line, `"`+name+`"`) && strings.Contains(line, "active") {
			return strings.Fields(line)[0]
		}
	}
	t.Fatalf("no active key %q in:\n%s", name, stdout)
	return ""
}

// wantSoon waits until a payment with the key gets that status.
func wantSoon(t *testing.T, url, key string, want int) {
	t.Helper()
	programtest.WaitFor(t, fmt.Sprint("a payment gets ", want), func() bool {
		return send(t, url, key, `{"amount":1,"currency":"usd","payment_method":"card"}`) == want
	})
}

// TestLifeOfAKey rolls and revokes keys during a running service, which applies it within a second.
func TestLifeOfAKey(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	serving(t, data, func(url string) { liveAKeysLife(t, data, url) })
}

func liveAKeysLife(t *testing.T, data, url string) {
	t.Helper()
	wantSoon := func(key string, want int) { t.Helper(); wantSoon(t, url, key, want) }
	merchant := MustPrint(t, "merchants", "--data", data, "create", "My shop")
	if _, stdout, _ := run(t, "merchants", "--data", data, "list"); !strings.Contains(stdout, merchant) || !strings.Contains(stdout, `"My shop"`) {
		t.Errorf("merchants: got %q", stdout)
	}
	first := MustPrint(t, "keys", "create", "--data", data, "--merchant", merchant, "--name", "till")
	wantSoon(first, 201)
	id := keyID(t, data, merchant, "till")
	second := MustPrint(t, "keys", "--data", data, "roll", id)
	wantSoon(first, 201)
	wantSoon(second, 201)
	third := MustPrint(t, "keys", "roll", keyID(t, data, merchant, "till"), "--overlap", "0s", "--data", data)
	wantSoon(second, 401)
	wantSoon(third, 201)

	last := keyID(t, data, merchant, "till")
	for _, args := range [][]string{
		{"keys", "roll", id, "--data", data},
		{"keys", "roll", last, "--overlap", "25h", "--data", data},
		{"keys", "roll", "key_0000000000001", "--data", data},
		{"keys", "revoke", last, "--data", data},
		{"keys", "revoke", third, "--data", data},
		{"keys", "list", "--data", data, "--merchant", "shop"},
	} {
		code, stdout, stderr := run(t, args...)
		if code != 1 || stdout != "" || strings.Contains(stderr, third[8:]) {
			t.Errorf("%v: got %d, %q, %q", args[:2], code, stdout, stderr)
		}
	}
	MustPrint(t, "keys", "revoke", last, "--force", "--data", data)
	wantSoon(third, 401)
	wantSoon(first, 201)
	MustPrint(t, "keys", "revoke", id, "--data", data)
	wantSoon(first, 401)
}

// TestKeysWithRestrictions creates, rolls and lists keys with lists of addresses and origins.
func TestKeysWithRestrictions(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	merchant := MustPrint(t, "merchants", "--data", data, "create", "My shop")
	create := func(more ...string) (code int, stderr string) {
		code, _, stderr = run(t, append([]string{"keys", "create", "--data", data, "--merchant", merchant}, more...)...)
		return code, stderr
	}
	row := func(name string) string {
		_, stdout, _ := run(t, "keys", "list", "--data", data, "--merchant", merchant)
		for line := range strings.Lines(stdout) {
			if strings.Contains(line, `"`+name+`"`) && strings.Contains(line, "active") {
				fields := strings.Fields(line)
				return strings.Join(fields[len(fields)-2:], " ")
			}
		}
		t.Fatalf("no active key %q in:\n%s", name, stdout)
		return ""
	}
	wantRow := func(name, want string) {
		t.Helper()
		if got := row(name); got != want {
			t.Errorf("%s: got the addresses and origins %q, want %q", name, got, want)
		}
	}
	MustPrint(t, "keys", "create", "--data", data, "--merchant", merchant, "--kind", "publishable", "--name", "page",
		"--addresses", "203.0.113.0/24,2001:db8::1", "--origins", "https://a.example,https://b.example")
	wantRow("page", "203.0.113.0/24,2001:db8::1/128 https://a.example,https://b.example")
	MustPrint(t, "keys", "roll", keyID(t, data, merchant, "page"), "--data", data, "--origins", "https://c.example")
	wantRow("page", "203.0.113.0/24,2001:db8::1/128 https://c.example")
	MustPrint(t, "keys", "roll", keyID(t, data, merchant, "page"), "--data", data, "--addresses", "", "--origins", "")
	wantRow("page", "- -")
	for want, more := range map[string][]string{
		"addresses: want at most 32":      {"--addresses", "203.0.113.1/24"},
		"origins: want at most 32":        {"--kind", "publishable", "--origins", "https://a.example/"},
		"only a publishable key can have": {"--origins", "https://a.example"},
	} {
		if code, stderr := create(more...); code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%v: got %d %q, want %q", more, code, stderr, want)
		}
	}
}
