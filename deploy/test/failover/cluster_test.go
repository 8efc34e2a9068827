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
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

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
	c := &cluster{dir: dir}
	etcd := c.startEtcd(t)
	for _, name := range []string{"a", "b", "c"} {
		c.nodes = append(c.nodes, newNode(t, dir, name, etcd))
	}
	for _, n := range c.nodes {
		n.Start(t)
	}
	leader := c.Healthy(t, true)
	for _, statement := range []string{"CREATE ROLE causeway LOGIN PASSWORD 'causeway-1'", "CREATE DATABASE causeway OWNER causeway"} {
		if err := leader.psql(t.Context(), "postgres", statement); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, "all nodes have the database", func() bool { // a core that meets one without it looks no further
		return !slices.ContainsFunc(c.nodes, func(n *node) bool { return n.psql(t.Context(), "causeway", "SELECT 1") != nil })
	})
	return c
}

// startEtcd starts an etcd and returns its address.
func (c *cluster) startEtcd(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(c.dir, "etcd")
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
		"NODE": "etcd", "ETCD_DATA": filepath.Join(dir, "data"), "ETCD_LISTEN": "http://" + address, "ETCD_ADDRESS": "http://" + address,
		"ETCD_PEER_LISTEN": "http://" + peer, "ETCD_PEER_ADDRESS": "http://" + peer, "ETCD_CLUSTER": "etcd=http://" + peer,
	}))
	run(t, dir, nil, "etcd", "--config-file", file)
	waitFor(t, "etcd is one cluster", func() bool { // Patroni ends when it asks before
		var said map[string]string
		return fetch(t.Context(), "http://"+address+"/version", "", &said) == nil && said["etcdcluster"] != "not_decided"
	})
	return address
}

// URL is what cores are given: all nodes, of which they take the one that can be written to.
func (c *cluster) URL() string {
	hosts := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		hosts[i] = n.clients.address
	}
	return c.url(strings.Join(hosts, ","))
}

func (c *cluster) url(hosts string) string {
	q := url.Values{"target_session_attrs": {"read-write"}, "sslmode": {"verify-full"}, "sslrootcert": {filepath.Join(c.dir, "server.crt")}}
	return "postgres://causeway:causeway-1@" + hosts + "/causeway?" + q.Encode()
}

// Inspect opens the database of a node, past the relays.
func (c *cluster) Inspect(t *testing.T, n *node) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", c.url(n.replication.to))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // it wrote nothing
	return db
}

// member is a node as Patroni shows it.
type member struct {
	Name     string         `json:"name"`
	Role     string         `json:"role"`
	State    string         `json:"state"`
	Timeline int            `json:"timeline"`
	Rest     map[string]any `json:",embed"`
}

// members asks a node how it sees the cluster.
func (n *node) members(ctx context.Context) []member {
	var said struct {
		Members []member       `json:"members"`
		Rest    map[string]any `json:",embed"`
	}
	if err := n.ask(ctx, http.MethodGet, "/cluster", "", &said); err != nil {
		return nil // it sees nothing
	}
	return said.Members
}

// ask asks Patroni, past the relays.
func (n *node) ask(ctx context.Context, method, path, body string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+n.api+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.SetBasicAuth("patroni", secrets["API_PASSWORD"])
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it is read
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: HTTP %d: %s", method, path, answer.StatusCode, text)
	}
	if err != nil || into == nil {
		return err
	}
	return json.UnmarshalRead(bytes.NewReader(text), into)
}

// sees is the leader as a node sees it, "" unless it sees all nodes run on one timeline, with a synchronous standby or without.
func (n *node) sees(ctx context.Context, nodes int, synchronous bool) (leader string) {
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

// Healthy waits until all nodes see all of them run, and the same one as the leader, with a synchronous standby or without one. It returns the leader.
func (c *cluster) Healthy(t *testing.T, synchronous bool) (leader *node) {
	t.Helper()
	waitFor(t, "the cluster is whole", func() bool {
		first := c.nodes[0].sees(t.Context(), len(c.nodes), synchronous)
		for _, n := range c.nodes {
			if n.sees(t.Context(), len(c.nodes), synchronous) != first {
				return false
			}
			if n.name == first {
				leader = n
			}
		}
		return first != ""
	})
	return leader
}

// Timeline is the cluster's: each node that takes the place of another begins one.
func (c *cluster) Timeline(t *testing.T) (line int) {
	t.Helper()
	waitFor(t, "a node says its timeline", func() bool {
		for _, m := range slices.Concat(c.nodes[0].members(t.Context()), c.nodes[1].members(t.Context())) {
			line = max(line, m.Timeline)
		}
		return line > 0
	})
	return line
}

// Configure changes what stands in etcd, as patronictl edit-config does.
func (c *cluster) Configure(t *testing.T, settings string) {
	t.Helper()
	if err := c.nodes[0].ask(t.Context(), http.MethodPatch, "/config", settings, nil); err != nil {
		t.Fatal(err)
	}
}

// patience bounds every wait: what takes seconds on a machine that has nothing else to do takes minutes on one that starves. It ends before the test's own
// time does, so that the logs are shown.
func patience(t *testing.T) time.Duration {
	t.Helper()
	const most = 10 * time.Minute
	if end, bounded := t.Deadline(); bounded {
		return min(most, end.Sub(clock.System().Now())-time.Minute)
	}
	return most
}

// waitFor waits for a condition, for as long as a short run or a full one may take.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	programtest.WaitWithin(t, patience(t), what, is)
}
