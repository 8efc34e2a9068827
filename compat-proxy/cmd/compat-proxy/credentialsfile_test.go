package main_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
)

// TestCredentials_concurrent issues logins concurrently. All of them are kept.
func TestCredentials_concurrent(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "c.yaml")
	mustWrite(t, file, "provider_a: []\n")
	var want []string
	var all sync.WaitGroup
	for i := range 16 {
		name := fmt.Sprintf("shop%02d", i)
		want = append(want, name)
		all.Go(func() {
			if _, stderr, err := run(t, file, "issue", "--name", name, "--api-key-env", "KEY"); err != nil {
				t.Errorf("issue %s: %v, %s", name, err, stderr)
			}
		})
	}
	all.Wait()
	names, _, err := run(t, file, "list")
	var got []string
	for line := range strings.Lines(names) {
		got = append(got, strings.Fields(line)[0])
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("list: got %v, %v, want %v", got, err, want)
	}
}

// TestCredentials_mode issues a login while other users, such as the proxy, may read the
// credentials file.
func TestCredentials_mode(t *testing.T) {
	t.Parallel()
	for _, want := range []fs.FileMode{0o600, 0o640, 0o644} {
		dir := t.TempDir()
		file := filepath.Join(dir, "c.yaml")
		mustWrite(t, file, "provider_a: []\n")
		if err := os.Chmod(file, want); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, _, err := run(t, file, "issue", "--name", "shop", "--api-key-env", "KEY", "--replace"); err != nil {
				t.Fatal(err)
			}
		}
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || path == dir {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			want := want
			if e.IsDir() { // readers may enter it
				want |= 0o100 | (want&0o044)>>2
			}
			if got := info.Mode().Perm(); got != want {
				t.Errorf("mode of %s: got %o, want %o", path, got, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestCredentials_badFile adds and revokes a login while another file is invalid. A running proxy
// applies both, but a proxy would not start.
func TestCredentials_badFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "c.yaml")
	mustWrite(t, file, "provider_a:\n  - {name: bad, transaction_key: b, api_key: pk_test_c}\n")
	for _, args := range [][]string{{"issue", "--name", "a", "--api-key-env", "KEY"}, {"revoke", "--name", "a"}} {
		_, stderr, err := run(t, file, args...)
		if err != nil || !strings.Contains(stderr, "would not start") {
			t.Errorf("%v: got %q and error %v, want a warning", args, stderr, err)
		}
	}
}

// TestCredentials_badSecret adds logins whose secrets a proxy could not use. The command names the
// file and writes nothing.
func TestCredentials_badSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place := func(name, text string) string {
		path := filepath.Join(dir, name)
		mustWrite(t, path, text)
		return path
	}
	missing, live := filepath.Join(dir, "missing"), place("live", "sk_live_new\n")
	bad, empty, good := place("bad", "pk_test_hidden\n"), place("empty", "\n"), place("good", "sk_test_new\n")
	old, short := place("old-key", "clientsOwnKey001\n"), place("short", "c2hvcnQ=\n")
	a := []string{"map", "--name", "shop", "--transaction-key-file", old}
	b := []string{"--provider", "provider-b", "--name", "shop"}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"a missing API key":     {append(a, "--api-key-file", missing), missing},
		"an empty API key":      {append(a, "--api-key-file", empty), empty},
		"a publishable API key": {append(a, "--api-key-file", bad), bad},
		"a live sandbox":        {append(a, "--api-key-file", live, "--sandbox"), "sandbox"},
		"a bad signature key":   {append(a, "--api-key-file", good, "--signature-key-file", bad), bad},
		"an issued login":       {[]string{"issue", "--name", "shop", "--api-key-file", bad}, bad},
		"a short secret": {
			append([]string{"map", "--key-id", "k", "--secret-file", short, "--api-key-file", good}, b...), short,
		},
		"no such member": {
			append([]string{"map", "--key-id", "k", "--secret-env", "SECRET", "--portfolio", "nowhere"}, b...), "portfolio",
		},
		"an issued key": {
			append([]string{"issue", "--secret-file", filepath.Join(dir, "new"), "--api-key-file", bad}, b...), bad,
		},
	} {
		file := filepath.Join(t.TempDir(), "c.yaml")
		out, _, err := run(t, file, tt.args...)
		if out != "" || err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: got %q and error %v, want an error alone that names %s", name, out, err, tt.want)
		}
		mustBeMissing(t, file)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the secret of the refused login: got %v, want that it is missing", err)
	}
}

// TestCredentials_revokeDespiteABrokenFile revokes a login while another file is no YAML. If the
// file of the login itself is broken, the command must not claim success.
func TestCredentials_revokeDespiteABrokenFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "c.yaml")
	for _, name := range []string{"good", "bad", "twice"} {
		if _, stderr, err := run(t, file, "issue", "--name", name, "--api-key-env", "KEY"); err != nil {
			t.Fatalf("%v, %s", err, stderr)
		}
	}
	bad := filepath.Join(file+".d", "provider-a-bad.yaml")
	mustWrite(t, bad, "provider_a: [")
	out, stderr, err := run(t, file, "revoke", "--name", "good")
	if err != nil || !strings.Contains(out, "revoked good") || !strings.Contains(stderr, bad) {
		t.Errorf("got %q, %q and error %v, want success with a warning that names %s", out, stderr, err, bad)
	}
	out, _, err = run(t, file, "revoke", "--name", "bad")
	if err == nil || out != "" || !strings.Contains(err.Error(), bad) {
		t.Errorf("the broken login: got %q and error %v, want an error alone that names %s", out, err, bad)
	}
	if err := os.Remove(bad); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, file, "provider_a: [{name: twice, transaction_key: b, api_key: sk_test_c}]\n")
	if out, _, err := run(t, file, "revoke", "--name", "twice"); out != "" || !errors.Is(err, credentials.ErrHandWritten) {
		t.Errorf("a login in two files: got %q and error %v, want ErrHandWritten", out, err)
	}
}

// TestCredentials_wrote: the output names the file, because another proxy may read other files.
func TestCredentials_wrote(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "c.yaml")
	for path, args := range map[string][]string{
		"provider-a-shop.yaml": {"issue", "--name", "shop", "--api-key-env", "KEY"},
		"provider-b-shop.yaml": {
			"map", "--provider", "provider-b", "--name", "shop", "--key-id", "k", "--secret-env", "SECRET",
			"--api-key-env", "KEY",
		},
	} {
		out, _, err := run(t, file, args...)
		if want := "Wrote " + filepath.Join(file+".d", path) + "."; err != nil || !strings.Contains(out, want) {
			t.Errorf("got %q and error %v, want %q", out, err, want)
		}
	}
}

// TestCredentials_unreadable issues a login while a file cannot be read, so the name may be in use.
func TestCredentials_unreadable(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"unknown key": "provider_a:\n  - {name: a, transaction_key: b, api_key: sk_test_c, colour: red}\n",
		"no yaml":     "provider_a: [\n",
		"no list":     "provider_a: 7\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "c.yaml")
			mustWrite(t, file, text)
			if _, _, err := run(t, file, "issue", "--name", "shop", "--api-key-env", "KEY"); err == nil {
				t.Error("got no error, want one")
			} else if strings.Contains(err.Error(), "sk_test_c") {
				t.Errorf("the error repeats a secret: %v", err)
			}
			mustBeMissing(t, file+".d")
			if got := mustRead(t, file); got != text {
				t.Errorf("the file: got %q, want it as it was", got)
			}
		})
	}
}

// TestCredentials_handWritten changes logins that share a file. The commands leave it to its
// author.
func TestCredentials_handWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "c.yaml")
	shared := filepath.Join(file+".d", "provider-a-two.yaml")
	if err := os.Mkdir(file+".d", 0o700); err != nil {
		t.Fatal(err)
	}
	const login = "  - {name: %s, transaction_key: b, api_key: sk_test_c}\n"
	texts := map[string]string{
		file:   "provider_a:\n" + fmt.Sprintf(login, "one"),
		shared: "provider_a:\n" + fmt.Sprintf(login, "two") + fmt.Sprintf(login, "three"),
	}
	for path, text := range texts {
		mustWrite(t, path, text)
	}
	for name, path := range map[string]string{"one": file, "two": shared, "three": shared} {
		for _, args := range [][]string{{"revoke"}, {"issue", "--replace", "--api-key-env", "KEY"}} {
			_, _, err := run(t, file, append(args, "--name", name)...)
			if !errors.Is(err, credentials.ErrHandWritten) || !strings.HasSuffix(err.Error(), path) {
				t.Errorf("%v of %s: got error %v, want ErrHandWritten in %s", args, name, err, path)
			}
		}
		_, _, err := run(t, file, "issue", "--api-key-env", "KEY", "--name", name)
		if !errors.Is(err, credentials.ErrExists) {
			t.Errorf("issue of %s: got error %v, want ErrExists", name, err)
		}
	}
	for path, text := range texts {
		if got := mustRead(t, path); got != text {
			t.Errorf("%s: got %q, want it as it was", path, got)
		}
	}
}

// TestCredentials_names issues logins with names that are not valid file names.
func TestCredentials_names(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, keyFile := filepath.Join(dir, "c.yaml"), filepath.Join(dir, "api-key")
	mustWrite(t, keyFile, "sk_test_new\n")
	for _, name := range []string{"..", "a/../../b", "ä b", "%2e", ".hidden"} {
		out, _, err := run(t, file, "issue", "--name", name, "--api-key-file", keyFile)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := opened(t, file, name, keyLine.FindStringSubmatch(out)[1]); got != "sk_test_new" {
			t.Errorf("%s: got %q, want its API key", name, got)
		}
		if _, _, err := run(t, file, "revoke", "--name", name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("got %v, %v, want the two files and the folder", entries, err)
	}
}

// TestCredentials_oneName issues the same login several times concurrently. Only one command
// succeeds.
func TestCredentials_oneName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, keyFile := filepath.Join(dir, "c.yaml"), filepath.Join(dir, "api-key")
	mustWrite(t, keyFile, "sk_test_new\n")
	var mu sync.Mutex
	var keys []string
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			out, _, err := run(t, file, "issue", "--name", "shop", "--api-key-file", keyFile)
			if errors.Is(err, credentials.ErrExists) {
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			keys = append(keys, keyLine.FindStringSubmatch(out)[1])
		})
	}
	all.Wait()
	if len(keys) != 1 || opened(t, file, "shop", keys[0]) != "sk_test_new" {
		t.Errorf("issued %d keys, want one that works", len(keys))
	}
}
