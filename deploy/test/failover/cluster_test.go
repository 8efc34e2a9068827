package failover_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/pgtest/server"
	"github.com/causeway-pay/causeway/shared/programtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// cluster is three nodes and an etcd.
type cluster struct {
	dir   string
	nodes []*node
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "fo") //nolint:usetesting // a socket's path must be short, and another user goes there
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := server.Give(dir); err != nil {
		t.Fatal(err)
	}
	mustCertify(t, dir)
	known, stranger := identify(t, dir)
	etcd := startEtcd(t, dir, known, stranger)
	c := &cluster{dir: dir}
	for _, name := range []string{"a", "b", "c"} {
		n := newNode(t, dir, name, etcd)
		n.known, n.stranger = known, stranger
		c.nodes = append(c.nodes, n)
	}
	for _, n := range c.nodes {
		n.Start(t)
	}
	leader := c.Healthy(t, true)
	if err := leader.patroniBy(t.Context(), leader.stranger, http.MethodPatch, "/config", `{"ttl": 20}`, nil); err == nil {
		t.Error("Patroni changed its configuration for a client with the password and without a certificate")
	}
	for _, statement := range []string{
		"CREATE ROLE causeway LOGIN PASSWORD 'causeway-1'",
		"CREATE DATABASE causeway OWNER causeway",
	} {
		if err := leader.psql(t.Context(), "postgres", statement); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, "all nodes have the database", func() bool { // a core stops its search at a node without the database
		return !slices.ContainsFunc(c.nodes, func(n *node) bool { return n.psql(t.Context(), "causeway", "SELECT 1") != nil })
	})
	return c
}

// startEtcd starts an etcd and returns its address. It checks that etcd accepts the known client
// only.
func startEtcd(t *testing.T, of string, known, stranger *http.Client) string {
	t.Helper()
	dir := filepath.Join(of, "etcd")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := server.Give(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { signal(dir, syscall.SIGKILL) })
	address, peer := programtest.MustPort(t), programtest.MustPort(t)
	file := filepath.Join(dir, "etcd.conf.yaml")
	mustWrite(t, file, filled(t, filepath.Join(filepath.Dir(reference), "etcd.conf.yaml"), map[string]string{
		"NODE": "etcd", "ETCD_DATA": filepath.Join(dir, "data"), "ETCD_LISTEN": "https://" + address,
		"ETCD_ADDRESS":     "https://" + address,
		"ETCD_PEER_LISTEN": "https://" + peer, "ETCD_PEER_ADDRESS": "https://" + peer, "ETCD_CLUSTER": "etcd=https://" + peer,
		"ETCD_TLS_CERT": filepath.Join(of, "server.crt"), "ETCD_TLS_KEY": filepath.Join(of, "server.key"),
		"TLS_CA": filepath.Join(of, "server.crt"),
	}))
	run(t, dir, nil, "etcd", "--config-file", file)
	waitFor(t, "etcd is one cluster", func() bool { // Patroni exits if etcd is not ready
		var text map[string]string
		return fetchBy(t.Context(), known, "https://"+address+"/version", "", &text) == nil &&
			text["etcdcluster"] != "not_decided"
	})
	for _, url := range []string{"http://" + address + "/v2/keys/", "https://" + address + "/v2/keys/"} {
		if err := fetchBy(t.Context(), stranger, url, "", nil); err == nil {
			t.Errorf("%s: etcd accepted a client without a certificate", url)
		}
	}
	return address
}

// URL returns the store URL for cores. It names all nodes, and core selects the writable one.
func (c *cluster) URL() string {
	hosts := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		hosts[i] = n.clients.address
	}
	return c.url(strings.Join(hosts, ","))
}

func (c *cluster) url(hosts string) string {
	q := url.Values{
		"target_session_attrs": {"read-write"}, "sslmode": {"verify-full"},
		"sslrootcert": {filepath.Join(c.dir, "server.crt")},
	}
	return "postgres://causeway:causeway-1@" + hosts + "/causeway?" + q.Encode()
}

// Inspect opens the database of a node without the relays.
func (c *cluster) Inspect(t *testing.T, n *node) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", c.url(n.replication.to))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // it only read
	return db
}

// member is a node in Patroni's view.
type member struct {
	Name     string         `json:"name"`
	Role     string         `json:"role"`
	State    string         `json:"state"`
	Timeline int            `json:"timeline"`
	Rest     map[string]any `json:",embed"`
}

// members returns the cluster as a node sees it, or nil if the node does not respond.
func (n *node) members(ctx context.Context) []member {
	var text struct {
		Members []member       `json:"members"`
		Rest    map[string]any `json:",embed"`
	}
	if err := n.patroni(ctx, http.MethodGet, "/cluster", "", &text); err != nil {
		return nil
	}
	return text.Members
}

// patroni sends a request to Patroni's API without the relays.
func (n *node) patroni(ctx context.Context, method, path, body string, into any) error {
	return n.patroniBy(ctx, n.known, method, path, body, into)
}

// patroniBy sends the request by a client.
func (n *node) patroniBy(ctx context.Context, by *http.Client, method, path, body string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "https://"+n.api+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.SetBasicAuth("patroni", secrets["API_PASSWORD"])
	response, err := by.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it is read
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: HTTP %d: %s", method, path, response.StatusCode, text)
	}
	if err != nil || into == nil {
		return err
	}
	return json.UnmarshalRead(bytes.NewReader(text), into)
}

// leaderSeenBy returns the leader in the view of a node. It returns "" unless the node sees all
// nodes running on one timeline, with or without a synchronous standby as required.
func (n *node) leaderSeenBy(ctx context.Context, nodes int, synchronous bool) (leader string) {
	members, second := n.members(ctx), false
	for _, m := range members {
		if m.State != "running" && m.State != "streaming" || m.Timeline != members[0].Timeline {
			return ""
		}
		if m.Role == "leader" {
			leader = m.Name
		}
		second = second || m.Role == "sync_standby"
	}
	if len(members) != nodes || second != synchronous {
		return ""
	}
	return leader
}

// Healthy waits until all nodes see all nodes running and the same leader, with or without a
// synchronous standby as required. It returns the leader.
func (c *cluster) Healthy(t *testing.T, synchronous bool) (leader *node) {
	t.Helper()
	waitFor(t, "the cluster is whole", func() bool {
		// Each view costs Patroni a request to etcd, so the first bad one ends the check.
		name := c.nodes[0].leaderSeenBy(t.Context(), len(c.nodes), synchronous)
		for _, n := range c.nodes[1:] {
			if name == "" || n.leaderSeenBy(t.Context(), len(c.nodes), synchronous) != name {
				return false
			}
		}
		i := slices.IndexFunc(c.nodes, func(n *node) bool { return n.name == name })
		leader = c.nodes[i]
		return true
	})
	return leader
}

// Timeline returns the timeline of the cluster. Each promotion starts a new one.
func (c *cluster) Timeline(t *testing.T) (line int) {
	t.Helper()
	waitFor(t, "a node reports its timeline", func() bool {
		for _, m := range slices.Concat(c.nodes[0].members(t.Context()), c.nodes[1].members(t.Context())) {
			line = max(line, m.Timeline)
		}
		return line > 0
	})
	return line
}

// Configure changes the configuration in etcd, as patronictl edit-config does.
func (c *cluster) Configure(t *testing.T, settings string) {
	t.Helper()
	if err := c.nodes[0].patroni(t.Context(), http.MethodPatch, "/config", settings, nil); err != nil {
		t.Fatal(err)
	}
}

// patience returns the limit of every wait. On a starved machine, a step of seconds takes minutes.
// The limit ends before the test's deadline, so that the logs are shown.
func patience(t *testing.T) time.Duration {
	t.Helper()
	const most = 10 * time.Minute
	if end, bounded := t.Deadline(); bounded {
		return min(most, end.Sub(clock.System().Now())-time.Minute)
	}
	return most
}

// waitFor waits for a condition until patience ends.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	programtest.WaitWithin(t, patience(t), what, is)
}
