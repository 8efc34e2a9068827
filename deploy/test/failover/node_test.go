package failover_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/causeway-pay/causeway/shared/pgtest/server"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// reference is the file from which each node's file is made.
var reference = filepath.Join("..", "..", "on", "patroni", "patroni.yaml")

// secrets are the passwords of the cluster.
var secrets = map[string]string{
	"API_PASSWORD": "api-1", "SUPERUSER_PASSWORD": "superuser-1", "REPLICATION_PASSWORD": "replication-1",
	"REWIND_PASSWORD": "rewind-1",
}

// node is a machine of the cluster: Patroni with its PostgreSQL, and the relays from and to it.
type node struct {
	name string
	dir  string
	api  string // Patroni's API, without the relays

	clients, replication, others, etcd *relay
	known, stranger                    *http.Client // with the nodes' certificate, and without
}

func newNode(t *testing.T, dir, name, etcd string) *node {
	t.Helper()
	n := &node{name: name, dir: filepath.Join(dir, name), api: programtest.MustPort(t)}
	postgres := programtest.MustPort(t)
	n.clients, n.replication, n.others, n.etcd = newRelay(t, postgres), newRelay(t, postgres), newRelay(t, n.api),
		newRelay(t, etcd)
	if err := os.Mkdir(n.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := server.Give(n.dir); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{
		"NODE": name, "API_LISTEN": n.api, "API_ADDRESS": n.others.address, "ETCD_HOSTS": n.etcd.address,
		"POSTGRES_LISTEN": postgres, "POSTGRES_ADDRESS": n.replication.address, "DATA_DIR": filepath.Join(n.dir, "data"),
		"RUN_DIR": n.dir,
		"TLS_CA":  filepath.Join(dir, "server.crt"), "TLS_CERT": filepath.Join(dir, "server.crt"),
		"TLS_KEY": filepath.Join(dir, "server.key"),
		"NETWORK": "127.0.0.0/8", "WATCHDOG": "off",
	}
	for name, value := range secrets {
		values[name] = value
	}
	mustWrite(t, filepath.Join(n.dir, "patroni.yaml"), filled(t, reference, values))
	t.Cleanup(func() {
		signal(n.dir, syscall.SIGKILL)
		if t.Failed() {
			t.Logf("%s:\n%s", name, tail(filepath.Join(n.dir, "log"), 24<<10))
		}
	})
	return n
}

// filled returns a file with a value for each ${…}. Every value must be used.
func filled(t *testing.T, path string, values map[string]string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(os.Expand(string(text), func(name string) string {
		value, given := values[name]
		if !given && name != "…" {
			t.Errorf("%s has ${%s}, which has no value", path, name)
		}
		return value
	}))
}

// tail returns the end of a file.
func tail(path string, most int) string {
	text, _ := os.ReadFile(path) // an unreadable file has no tail
	return string(text[max(0, len(text)-most):])
}

// Start starts Patroni, which starts PostgreSQL.
func (n *node) Start(t *testing.T) {
	t.Helper()
	// without it, Patroni bypasses the relay
	run(t, n.dir, []string{"PATRONI_ETCD_USE_PROXIES=true"}, "patroni", filepath.Join(n.dir, "patroni.yaml"))
}

// run starts a program as the server's user, in a private folder. The test kills it by signal.
func run(t *testing.T, dir string, env []string, name string, args ...string) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // the program has a duplicate
	if _, err := programtest.Launch(programtest.Command{
		Path: name, Args: args, Dir: dir, Stdout: log, Stderr: log,
		Env:  append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "PWD=" + dir, "LC_ALL=C.UTF-8"}, env...),
		Bare: true,
		Change: func(cmd *exec.Cmd) {
			server.AsServer(cmd)
			cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM // Patroni then stops its PostgreSQL
		},
	}); err != nil {
		t.Fatal(err)
	}
}

// Kill kills all processes of the node at the same time, like a power failure.
func (n *node) Kill() {
	signal(n.dir, syscall.SIGSTOP) // no process may react to the death of another
	signal(n.dir, syscall.SIGKILL)
}

// Stop suspends all processes of the node.
func (n *node) Stop() { signal(n.dir, syscall.SIGSTOP) }

// Continue ends Stop.
func (n *node) Continue() { signal(n.dir, syscall.SIGCONT) }

// CutOff cuts all relays of the node.
func (n *node) CutOff() {
	for _, r := range []*relay{n.clients, n.replication, n.others, n.etcd} {
		r.Cut()
	}
}

// Mend ends CutOff and every other cut.
func (n *node) Mend() {
	for _, r := range []*relay{n.clients, n.replication, n.others, n.etcd} {
		r.Mend()
	}
}

// psql runs a statement as the superuser through the socket.
func (n *node) psql(ctx context.Context, database, statement string) error {
	_, port, err := net.SplitHostPort(n.replication.to)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "psql", "-h", n.dir, "-p", port, "-U", "postgres", "-d", database, "-v",
		"ON_ERROR_STOP=1", "-Atc", statement)
	cmd.Dir = n.dir
	cmd.Env = append(os.Environ(), "PGPASSWORD="+secrets["SUPERUSER_PASSWORD"])
	server.AsServer(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", statement, err, out)
	}
	return nil
}
