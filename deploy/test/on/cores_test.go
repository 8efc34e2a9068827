package on_test

import (
	"crypto/rand"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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
	secrets := t.TempDir()
	write(t, filepath.Join(secrets, "store"), []byte(d.store+"\n"))
	write(t, filepath.Join(secrets, "mle-store"), []byte(d.keys+"\n"))
	make := exec.CommandContext(t.Context(), "bash", filepath.Join(root, "deploy/on/compose/several/databases.sh"))
	make.Env = append(os.Environ(), "SECRETS="+secrets, "PGHOST="+s.Folder())
	if out, err := make.CombinedOutput(); err != nil {
		t.Fatalf("databases.sh: %v\n%s", err, out)
	}
	return d
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

// twoCores starts two machines that share a server and secrets, the second one with core only. It
// returns an API key too.
func twoCores(t *testing.T) (d *database, first, second *machine, key string) {
	t.Helper()
	d, first, second = startDatabase(t), newMachine(t), newMachine(t)
	first.onDatabase(t, d)
	second.onDatabase(t, d)
	for _, name := range []string{"vault-kek", "filter-secret", "filter-token", "hop-secret"} {
		text, err := os.ReadFile(first.path("/etc/causeway/secrets/" + name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, second.path("/etc/causeway/secrets/"+name), text)
	}
	edge := string(mustRead(t, "deploy/on/systemd/config/edge.yaml"))
	edge = substitute(t, "edge.yaml", first.here(edge), change{
		"  core: {address: " + first.address + ":8080,",
		"  core: {address: '" + first.address + ":8080, " + second.address + ":8080',",
	})
	write(t, first.path("/etc/causeway/edge.yaml"), []byte(edge))
	second.start(t, "core", "9080")
	first.startAll(t)
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
// machines store no data.
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
		first.envoy.Wait(t, "does not find each core well", func() bool {
			return strings.Contains(first.envoy.Get(t, "/clusters"), "core::"+of.address+":8080::health_flags::healthy")
		})
	}
	if got := d.query(t, d.keys, "SELECT has_database_privilege('causeway', 'CONNECT')"); got != "f" {
		t.Error("the filter's role may open core's database")
	}
	for _, of := range []*machine{first, second} {
		for _, folder := range []string{"core", "mle"} {
			left, err := filepath.Glob(of.path("/var/lib/causeway/" + folder + "/[a-z]*"))
			if err != nil || len(left) > 0 {
				t.Errorf("on a machine there are %v (%v)", left, err)
			}
		}
	}
	if status, response := second.call(t, http.MethodGet,
		"http://127.0.0.1:8080/v1/health", "", ""); status != http.StatusOK {
		t.Errorf("the other core: got %d %s", status, response)
	}
}
