package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/secret"
)

const planted = "sk_live_planted"

type settings struct {
	Wait  time.Duration `yaml:"wait"`
	Names []string      `yaml:"names"`
	Every map[string]struct {
		Wait time.Duration `yaml:"wait"`
	} `yaml:"every"`
	Listen string        `yaml:"listen"`
	Limit  int8          `yaml:"limit"`
	Key    config.Secret `yaml:"key"`
	Login  struct {
		Name     string        `yaml:"name"`
		Password config.Secret `yaml:"password"`
	} `yaml:"login"`
	Logins []struct {
		Secret config.Secret `yaml:"secret"`
	} `yaml:"logins"`
}

func TestLoad(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "core.yaml")
	mustWrite(t, path, "listen: 127.0.0.1:0\nlogin:\n  name: shop\n")
	got := settings{Limit: 7}
	if err := config.Load(path, &got); err != nil {
		t.Fatal(err)
	}
	if got.Listen != "127.0.0.1:0" || got.Login.Name != "shop" {
		t.Errorf("got %q and %q, want the values of the file", got.Listen, got.Login.Name)
	}
	if got, want := got.Limit, int8(7); got != want {
		t.Errorf("default: got %d, want %d", got, want)
	}
}

func TestLoadMissing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "absent.yaml")
	err := config.Load(path, &settings{})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want one that names %s", err, path)
	}
}

func TestLoadTooLarge(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "large.yaml")
	mustWrite(t, path, strings.Repeat("#", 1<<20+1))
	if err := config.Load(path, &settings{}); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("load: got %v, want a refusal by size", err)
	}
	if err := config.Decode("x", []byte(strings.Repeat("#", 1<<20+1)), &settings{}); err == nil {
		t.Error("decode: got nil, want a refusal by size")
	}
}

func TestDecodeEmpty(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", "\n", "# only a comment\n", "---\n"} {
		got := settings{Limit: 7}
		if err := config.Decode("empty.yaml", []byte(in), &got); err != nil || got.Limit != 7 {
			t.Errorf("%q: got %v and %d, want nil and the default", in, err, got.Limit)
		}
	}
}

func TestDurations(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"wait: 90s", "wait: 0s", "wait: '1m30s'", "wait:", "wait: null", "every: {a: {wait: 1h}}",
		"wait: &a 5s\nevery: {b: {wait: *a}}",
	} {
		if err := config.Decode("c.yaml", []byte(in), &settings{}); err != nil {
			t.Errorf("%q: got %v", in, err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ in, want string }{
		"UnknownKey":        {"listen: a\nkey: " + planted + "\nlistne: b\n", `c.yaml:3: unknown key "listne"`},
		"UnknownKeyInside":  {"login:\n  name: a\n  named: " + planted + "\n", `c.yaml:3: unknown key "named"`},
		"DuplicateKey":      {"listen: a\nkey: " + planted + "\nlisten: b\n", `c.yaml:3: duplicate key "listen"`},
		"DuplicateInList":   {"logins:\n  - secret: a\n    \"secret\": b\n", `c.yaml:3: duplicate key "secret"`},
		"DuplicateInFlow":   {"login: {name: a, name: b}\n", `c.yaml:1: duplicate key "name"`},
		"DuplicateSecret":   {"key: " + planted + "\nkey: " + planted + "\n", `c.yaml:2: duplicate key "key"`},
		"WrongType":         {"listen: a\nlimit: " + planted + "\n", `c.yaml:2: limit: want a whole number, not a text`},
		"TypeInList":        {"names: [a, {b: " + planted + "}]\n", `c.yaml:1: `},
		"Duration":          {"listen: a\nwait: " + planted + "\n", `c.yaml:2: wait: want a duration`},
		"DurationUnit":      {"wait: 1d\n", `c.yaml:1: wait: want a duration`},
		"DurationNumber":    {"wait: 12345678\n", `c.yaml:1: wait: want a duration`},
		"DurationBool":      {"wait: true\n", `c.yaml:1: wait: want a duration`},
		"Fraction":          {"limit: 0.5\n", `c.yaml:1: limit: want a whole number`},
		"DurationInside":    {"every:\n  a: {wait: 1s}\n  b:\n    wait: 2\n", `c.yaml:4: wait: want a duration`},
		"TextForList":       {"names: " + planted + "\n", `c.yaml:1: names: want a sequence, not a string`},
		"ListForMapping":    {"login: [a]\n", `c.yaml:1: login: want a mapping, not a sequence`},
		"Overflow":          {"limit: 300\n", `c.yaml:1: limit: the number is out of range`},
		"Syntax":            {"listen: a\nkey: [" + planted + "\n", `c.yaml:2: not valid YAML: sequence end`},
		"Tab":               {"listen: a\nlogin:\n\tname: " + planted + "\n", `c.yaml:3: not valid YAML: found char`},
		"Quote":             {"listen: a\nkey: \"" + planted + "\n", `c.yaml:2: not valid YAML: could not`},
		"ValueLikeAKey":     {"listen: a\nkey: " + planted + ": %\n", `c.yaml:2: not valid YAML`},
		"TagLikeAKey":       {"key: !!binary " + planted + ": @\n", `c.yaml:1: not valid YAML`},
		"TagWithoutValue":   {"limit: !!\\x\n", `c.yaml: not valid YAML`},
		"Indentation":       {"listen: a\n  limit: 1\n", `c.yaml:`},
		"Version":           {"%YAML " + planted + "\n---\nlisten: a\n", `c.yaml:1: not valid YAML`},
		"SecretNumber":      {"listen: a\nkey: 12345678\n", `c.yaml:2: want a secret`},
		"SecretList":        {"key: [" + planted + "]\n", `c.yaml:1: want a secret`},
		"SecretTwoSources":  {"key: {env: A, file: B}\n", `c.yaml:1: want a secret`},
		"SecretOtherSource": {"key: {value: " + planted + "}\n", `c.yaml:1: want a secret`},
		"SecretEmptyMap":    {"key: {}\n", `c.yaml:1: want a secret`},
		"SecretEmptyName":   {"key: {env: \"\"}\n", `c.yaml:1: want the name of`},
		"SecretInList":      {"logins:\n  - secret: x\n  - secret: {vault: y}\n", `c.yaml:3: want a secret`},
		"SecondDocument":    {"listen: a\n---\nlisten: b\n", `c.yaml: more than one YAML document: want one`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := config.Decode("c.yaml", []byte(tt.in), &settings{})
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Fatalf("got %v, want %s…", err, tt.want)
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				if text := fmt.Sprintf("%v %+v", e, e); strings.Contains(text, planted) || strings.Contains(text, "12345678") {
					t.Errorf("%q repeats a value", text)
				}
			}
		})
	}
}

func TestSecretForms(t *testing.T) {
	t.Setenv("CAUSEWAY_TEST_SECRET", planted)
	path := filepath.Join(t.TempDir(), "secret")
	mustWrite(t, path, planted+"\n")
	for name, in := range map[string]string{
		"Plain":   "key: " + planted,
		"Quoted":  "key: \"" + planted + "\"",
		"Block":   "key: |-\n  " + planted + "\n",
		"Env":     "key: {env: CAUSEWAY_TEST_SECRET}",
		"EnvLong": "key:\n  env: CAUSEWAY_TEST_SECRET\n",
		"File":    "key: {file: " + path + "}",
	} {
		var s settings
		if err := config.Decode("c.yaml", []byte(in), &s); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if v, err := s.Key.Resolve(); err != nil || v.Reveal() != planted {
			t.Errorf("%s: got %d bytes, %v, want the planted text", name, v.Len(), err)
		}
	}
}

func TestSecretUnset(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", "key:\n", "key: null\n", "key: \"\"\n"} {
		var s settings
		if err := config.Decode("c.yaml", []byte(in), &s); err != nil {
			t.Fatal(err)
		}
		if v, err := s.Key.Resolve(); err != nil || !v.IsZero() || !s.Key.IsZero() {
			t.Errorf("%q: got %t, %v, want nothing", in, s.Key.IsZero(), err)
		}
	}
}

func TestSecretResolveErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty, large := filepath.Join(dir, "empty"), filepath.Join(dir, "large")
	mustWrite(t, empty, "\r\n")
	mustWrite(t, large, strings.Repeat(planted, 8000))
	for in, want := range map[string]string{
		"{env: CAUSEWAY_TEST_ABSENT}":              "CAUSEWAY_TEST_ABSENT is not set",
		"{file: " + filepath.Join(dir, "no") + "}": filepath.Join(dir, "no"),
		"{file: " + empty + "}":                    empty + " is empty",
		"{file: " + large + "}":                    large + ": larger",
	} {
		var s settings
		if err := config.Decode("c.yaml", []byte("key: "+in), &s); err != nil {
			t.Fatal(err)
		}
		v, err := s.Key.Resolve()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), planted) || !v.IsZero() {
			t.Errorf("%s: got %v, want one with %q", in, err, want)
		}
	}
}

func TestSecretKeepsInnerNewlines(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pem")
	mustWrite(t, path, "a\nb\n\n")
	var s settings
	if err := config.Decode("c.yaml", []byte("key: {file: "+path+"}"), &s); err != nil {
		t.Fatal(err)
	}
	v, err := s.Key.Resolve()
	if got, want := v.Reveal(), "a\nb\n"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestSecretCannotPrint(t *testing.T) {
	t.Parallel()
	s := config.Literal(secret.New(planted))
	type holder struct{ key config.Secret }
	for _, v := range []any{s, &s, holder{s}, settings{Key: s}} {
		out := fmt.Sprintf("%v %+v %#v %s %q %x %d %p", v, v, v, v, v, v, v, v)
		if b, err := json.Marshal(v); err == nil {
			out += string(b)
		}
		if b, err := yaml.Marshal(v); err == nil {
			out += string(b)
		}
		if strings.Contains(out, planted) {
			t.Errorf("%s shows the secret", out)
		}
	}
	if got, want := s.LogValue().String()+s.String()+s.GoString(), "[redacted][redacted][redacted]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func mustWrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
