package credentials_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

const loginFile = "provider_a:\n  - {name: %s, transaction_key: %s, api_key: sk_test_%[1]s}\n"

// mustAdd writes a file into the folder of the store's credentials file.
func (b bundle) mustAdd(t *testing.T, name, text string) string {
	t.Helper()
	folder := b.path + ".d"
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, name)
	mustWrite(t, path, text)
	return path
}

// wantKeys compares the API keys of logins with want after a second.
func (b bundle) wantKeys(t *testing.T, want map[[2]string]string) {
	t.Helper()
	b.clock.Advance(time.Second)
	for login, key := range want {
		if got := b.key(t, login[0], login[1]); got != key {
			t.Errorf("login %v: got %q, want %q", login, got, key)
		}
	}
}

func TestFolder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one, two := [2]string{"file1", "k1"}, [2]string{"file2", "k2"}
	hand := [2]string{"shop", "one"}
	b.mustAdd(t, "1.yaml", fmt.Sprintf(loginFile, "file1", "k1"))
	second := b.mustAdd(t, "2.yaml", fmt.Sprintf(loginFile, "file2", "k2"))
	b.wantKeys(t, map[[2]string]string{one: "sk_test_file1", two: "sk_test_file2", hand: "sk_test_a"})

	if err := os.Remove(second); err != nil {
		t.Fatal(err)
	}
	b.mustAdd(t, "1.yaml", fmt.Sprintf(loginFile, "file1", "rolled"))
	b.wantKeys(t, map[[2]string]string{one: "", {"file1", "rolled"}: "sk_test_file1", two: "", hand: "sk_test_a"})

	if err := os.RemoveAll(b.path + ".d"); err != nil {
		t.Fatal(err)
	}
	b.wantKeys(t, map[[2]string]string{{"file1", "rolled"}: "", hand: "sk_test_a"})
	if strings.Contains(b.log.String(), "level=ERROR") {
		t.Errorf("the log has an error: %s", b.log)
	}
}

// TestFolderIgnoresOtherFiles: editors and the commands themselves briefly leave such files.
func TestFolderIgnoresOtherFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, name := range []string{".1.yaml.123", ".1.yaml", "1.yaml~", "README"} {
		b.mustAdd(t, name, "neither a login nor a comment")
	}
	b.mustAdd(t, "1.yaml", fmt.Sprintf(loginFile, "file1", "k1"))
	b.wantKeys(t, map[[2]string]string{{"file1", "k1"}: "sk_test_file1"})
}

// TestBrokenFileInFolder logs the fault once, without the value. The other files apply.
func TestBrokenFileInFolder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.mustAdd(t, "1.yaml", fmt.Sprintf(loginFile, "file1", "k1"))
	b.wantKeys(t, map[[2]string]string{{"file1", "k1"}: "sk_test_file1"})
	b.mustAdd(t, "1.yaml", fmt.Sprintf(loginFile, "file1", "new"))
	broken := b.mustAdd(t, "2.yaml", "provider_a: [{name: file2, transaction_key: k2, api_key: pk_test_hidden}]")
	for range 3 {
		b.wantKeys(t, map[[2]string]string{
			{"file1", "k1"}: "", {"file1", "new"}: "sk_test_file1", {"file2", "k2"}: "",
			{"shop", "one"}: "sk_test_a",
		})
	}
	log := b.log.String()
	if got, want := strings.Count(log, broken+": provider_a[0].api_key"), 1; got != want ||
		strings.Contains(log, "hidden") {
		t.Errorf("errors: got %d, want %d without the value, in %s", got, want, log)
	}
	if err := os.Remove(broken); err != nil {
		t.Fatal(err)
	}
	b.wantKeys(t, map[[2]string]string{{"file1", "new"}: "sk_test_file1"})
}

// TestFolderNamesTheFileAtFault: the fault is between two files.
func TestFolderNamesTheFileAtFault(t *testing.T) {
	t.Parallel()
	keys := "keys: [{id: one, shared_secret: " + secretB + "}]"
	for name, tt := range map[string]struct{ hand, file, want string }{
		"name twice": {
			fmt.Sprintf(loginFile, "shop", "one"), fmt.Sprintf(loginFile, "shop", "two"), "1.yaml: provider_a[0].name",
		},
		"merchant twice": {
			"provider_b: [{merchant_id: a, api_key: sk_test_a}]", "provider_b: [{merchant_id: a, api_key: sk_test_a}]",
			"1.yaml: provider_b[0].merchant_id",
		},
		"key twice": {
			"provider_b: [{merchant_id: a, api_key: sk_test_a, " + keys + "}]",
			"provider_b: [{merchant_id: b, api_key: sk_test_b, " + keys + "}]", "1.yaml: provider_b[0].keys[0].id",
		},
		"portfolio": {
			"provider_b: [{merchant_id: a, api_key: sk_test_a}]",
			"provider_b: [{merchant_id: b, " + keys + ", portfolio: [a, c]}]", "1.yaml: provider_b[0].portfolio[1]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := bundle{path: filepath.Join(t.TempDir(), "credentials.yaml")}
			mustWrite(t, b.path, tt.hand)
			b.mustAdd(t, "1.yaml", tt.file)
			_, err := credentials.Open(b.path, clock.System(), nil, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error that names %s", err, tt.want)
			}
		})
	}
}

// TestFolderChangesWhileRead adds and removes logins while the store reads. A file that vanishes
// between two steps is a removed login, not a fault.
func TestFolderChangesWhileRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	changed := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < 20 && err == nil; i++ {
			e := credentials.Entry{
				Name: "file1", TransactionKey: secret.New("k1"),
				APIKeyFile: filepath.Join(filepath.Dir(b.path), "key"),
			}
			if err = credentials.Add(b.path, e, false); err == nil {
				err = credentials.Remove(b.path, credentials.ListA, e.Name)
			}
		}
		changed <- err
	}()
	for {
		if err := b.store.Reload(); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-changed:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}
