package on_test

import (
	"crypto/rand"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest/server"
)

// database is a PostgreSQL server with the settings in deploy/on/postgres. several/databases.sh
// creates its databases from the URLs.
type database struct {
	*server.Server
	store, keys string // the URLs
}

func startDatabase(t *testing.T) *database {
	t.Helper()
	folder, err := os.MkdirTemp("", "pgconf") //nolint:usetesting // the server's user has to reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	settings := filepath.Join(folder, "postgresql.conf")
	write(t, settings, mustRead(t, "deploy/on/postgres/postgresql.conf"))
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(settings, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := server.Start(t.Context(), "config_file="+settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	d := &database{Server: s}
	d.store = "postgres://causeway:" + rand.Text() + "@/causeway?host=" + s.Folder()
	d.keys = "postgres://causeway_mle:" + rand.Text() + "@/causeway_mle?host=" + s.Folder()
	if out, err := d.create(t, d.store, d.keys); err != nil {
		t.Fatalf("databases.sh: %v\n%s", err, out)
	}
	return d
}

// create runs databases.sh for two URLs.
func (d *database) create(t *testing.T, store, keys string) (string, error) {
	t.Helper()
	secrets := t.TempDir()
	write(t, filepath.Join(secrets, "store"), []byte(store+"\n"))
	write(t, filepath.Join(secrets, "mle-store"), []byte(keys+"\n"))
	make := exec.CommandContext(t.Context(), "bash", filepath.Join(root, "deploy/on/compose/several/databases.sh"))
	make.Env = append(os.Environ(), "SECRETS="+secrets, "PGHOST="+d.Folder())
	out, err := make.CombinedOutput()
	return string(out), err
}

// TestDatabasesPostgreSQL checks that databases.sh refuses wrong URLs before its first statement.
// It must run again by hand, because the image does not repeat it after a failure.
func TestDatabasesPostgreSQL(t *testing.T) {
	t.Parallel()
	d := startDatabase(t)
	other := "postgres://other:" + rand.Text() + "@/other?host=" + d.Folder()
	for name, keys := range map[string]string{
		"(%)":          "postgres://keys:a%2Fb@/keys",
		"is not a URL": "postgres://keys@/keys",
	} {
		if out, err := d.create(t, other, keys); err == nil || !strings.Contains(out, name) {
			t.Errorf("%s: got %v, %s", keys, err, out)
		}
	}
	if got := d.query(t, d.store, "SELECT count(*) FROM pg_roles WHERE rolname = 'other'"); got != "0" {
		t.Error("a refused URL left the role of the other one")
	}
	d.store = strings.Replace(d.store, "causeway:", "causeway:1", 1)
	if out, err := d.create(t, d.store, d.keys); err != nil {
		t.Errorf("again, with another password: %v, %s", err, out)
	}
	for _, url := range []string{d.store, d.keys} {
		if got := d.query(t, url, "SELECT 1"); got != "1" {
			t.Errorf("%s: got %s", url, got)
		}
	}
}

// query returns the result of a statement.
func (d *database) query(t *testing.T, url, statement string) string {
	t.Helper()
	path, err := server.Find("psql")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(mustRun(t, "", path, "-X", "-q", "-A", "-t", url, "-c", statement))
}

// onDatabase makes core and mle-filter of a machine store their data on a server, by the drop-ins
// in deploy/on.
func (m *machine) onDatabase(t *testing.T, d *database) {
	t.Helper()
	m.secret(t, "store", d.store)
	m.secret(t, "mle-store", d.keys)
	write(t, m.path("/etc/causeway/mle-filter.yaml"),
		[]byte(m.here(string(mustRead(t, "deploy/on/systemd/several/mle-filter.yaml")))))
	m.dropIns = "deploy/on/systemd/several/causeway-%s.conf"
}

// twoCores starts two machines that share a server and secrets, each with all programs. It returns
// an API key too.
func twoCores(t *testing.T) (d *database, first, second *machine, key string) {
	t.Helper()
	d, first, second = startDatabase(t), newMachine(t), newMachine(t)
	first.onDatabase(t, d)
	second.onDatabase(t, d)
	for _, name := range []string{
		"vault-kek", "mle-kek", "filter-secret", "deduplication-secret", "filter-token", "hop-secret",
	} {
		text, err := os.ReadFile(first.path("/etc/causeway/secrets/" + name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, second.path("/etc/causeway/secrets/"+name), text)
	}
	first.startAll(t)
	second.startAll(t)
	kek, err := os.ReadFile(first.path("/etc/causeway/secrets/vault-kek"))
	if err != nil {
		t.Fatal(err)
	}
	first.env = []string{"CAUSEWAY_STORE=" + d.store, "CAUSEWAY_VAULT_KEK=" + strings.TrimSpace(string(kek))}
	merchant := first.must(t, "core merchants create Shop")
	return d, first, second, first.must(t, "core keys create --merchant "+merchant)
}

// TestSeveralOnPostgreSQL checks that the units for several cores take payments, on a server with
// the settings in deploy/on. One core leads, neither role can open the other's database, and the
// machines store no data but the simulator's journal.
func TestSeveralOnPostgreSQL(t *testing.T) {
	t.Parallel()
	d, first, second, key := twoCores(t)
	for name, endpoint := range map[string]struct{ url, body, want string }{
		"v1":         {"https://api.example.com/v1/transactions", payment, `"status":"captured"`},
		"provider-a": {"https://api.example.com/compat/provider-a/xml", legacyPayment, "<responseCode>1</responseCode>"},
	} {
		if status, response := first.call(t, http.MethodPost, endpoint.url, key, endpoint.body); status > 201 ||
			!strings.Contains(response, endpoint.want) {
			t.Errorf("%s: got %d %s, want %s", name, status, response, endpoint.want)
		}
	}
	if status, response := first.call(t, http.MethodGet,
		"https://api.example.com/v1/mle/keys/current", key, ""); status != http.StatusOK {
		t.Errorf("the filter's keys: got %d %s", status, response)
	}
	for question, want := range map[string]string{
		"SELECT count(*) FROM cores WHERE beat > 0":              "2",
		"SELECT count(*) FROM transactions":                      "2",
		"SELECT count(*) > 0 FROM lead JOIN cores ON id=core_id": "t",
	} {
		if got := d.query(t, d.store, question); got != want {
			t.Errorf("%s: got %s, want %s", question, got, want)
		}
	}
	for _, of := range []*machine{first, second} {
		of.envoy.Wait(t, "does not find its core well", func() bool {
			return strings.Contains(of.envoy.Get(t, "/clusters"), "core::"+of.address+":8080::health_flags::healthy")
		})
	}
	if got := d.query(t, d.keys, "SELECT has_database_privilege('causeway', 'CONNECT')"); got != "f" {
		t.Error("the filter's role may open core's database")
	}
	for _, of := range []*machine{first, second} {
		for _, folder := range []string{"core", "mle"} {
			left, err := filepath.Glob(of.path("/var/lib/causeway/" + folder + "/[a-z]*"))
			left = slices.DeleteFunc(left, func(file string) bool { return filepath.Base(file) == "simulator.journal" })
			if err != nil || len(left) > 0 {
				t.Errorf("on a machine there are %v (%v)", left, err)
			}
		}
	}
	checkCoreEnds(t, first, second, key)
}

// checkCoreEnds stops the first machine's core. That machine's health check fails, and the other
// machine takes payments of every kind.
func checkCoreEnds(t *testing.T, first, second *machine, key string) {
	t.Helper()
	if err := first.programs["core"].Terminate(); err != nil {
		t.Fatal(err)
	}
	const health = "https://api.example.com/v1/health"
	if status, response := first.call(t, http.MethodGet, health, "", ""); status != http.StatusServiceUnavailable {
		t.Errorf("health without a core: got %d %s, want %d", status, response, http.StatusServiceUnavailable)
	}
	if status, response := second.call(t, http.MethodGet, health, "", ""); status != http.StatusOK {
		t.Errorf("health of the other machine: got %d %s", status, response)
	}
	for url, body := range map[string]string{
		"https://api.example.com/v1/transactions":       payment,
		"https://api.example.com/compat/provider-a/xml": strings.Replace(legacyPayment, "12.50", "12.52", 1),
	} {
		if status, response := second.call(t, http.MethodPost, url, key, body); status > 201 ||
			strings.Contains(response, "<resultCode>Error") {
			t.Errorf("%s on the other machine: got %d %s", url, status, response)
		}
	}
}
