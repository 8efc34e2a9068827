package postgres_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/pgtest"
	"github.com/causeway-pay/causeway/shared/programtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// cluster is a set of cores on one database.
type cluster struct {
	store   string // its URL
	kek     string
	key     string // a secret test key of its one merchant
	journal string // path of the simulator's journal
}

func newCluster(t *testing.T, store string) *cluster {
	t.Helper()
	c := &cluster{
		store: store + "&patience=20s", kek: base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32)),
		journal: filepath.Join(t.TempDir(), "simulator.journal"),
	}
	merchant := c.run(t, "merchants", "create", "Shop")
	c.key = c.run(t, "keys", "create", "--merchant", merchant)
	return c
}

// command returns the program with the cluster's settings.
func (c *cluster) command(t *testing.T, args ...string) programtest.Command {
	t.Helper()
	return programtest.Command{
		Path: filepath.Join(programtest.MustPrograms(t, "core"), "core"), Args: args,
		Env: []string{"CAUSEWAY_STORE=" + c.store, "CAUSEWAY_VAULT_KEK=" + c.kek},
	}
}

// run runs an operator's command and returns its standard output.
func (c *cluster) run(t *testing.T, args ...string) string {
	t.Helper()
	return programtest.MustOutput(t, c.command(t, args...))
}

// refused runs a command that must fail, and returns its output. The output must not contain the
// password.
func (c *cluster) refused(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, err := programtest.Output(t.Context(), c.command(t, args...))
	if err == nil || strings.Contains(stdout+stderr, "hunter2") {
		t.Errorf("%v: got %v, %s%s", args, err, stdout, stderr)
	}
	return stdout + stderr
}

// node is one core that serves.
type node struct {
	*programtest.Program
	cluster *cluster
	url     string
}

// start starts a core with more arguments. The end of the test kills it.
func (c *cluster) start(t *testing.T, more ...string) *node {
	t.Helper()
	p := programtest.Start(t, c.command(t, append([]string{
		"serve", "--listen", "127.0.0.1:0", "--rate-limit", "0", "--simulator-journal", c.journal,
	}, more...)...))
	return &node{Program: p, cluster: c, url: "http://" + p.MustAddress(t, "listen")}
}

// authorizations returns the number of authorizations that the acquirer approved, and how many of
// them were not released by a later void.
func (c *cluster) authorizations(t *testing.T) (approved, held int64) {
	t.Helper()
	text, err := os.ReadFile(c.journal)
	if err != nil {
		t.Fatal(err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1] // the last line may be incomplete
	holds := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line) // kind, reference, authorization, response code and more
		switch {
		case f[3] != "00":
		case f[0] == "a":
			approved++
			holds[f[1]] = true
		case f[0] == "v":
			delete(holds, f[2])
		}
	}
	return approved, int64(len(holds))
}

// response is a response of a core.
type response struct {
	status int
	header http.Header
	body   map[string]any
}

// send sends a request with the cluster's API key. An idempotency key of "" is not sent.
func (n *node) send(ctx context.Context, method, path, body, idempotency string) (response, error) {
	r, err := http.NewRequestWithContext(ctx, method, n.url+path, strings.NewReader(body))
	if err != nil {
		return response{}, err
	}
	r.Header.Set("Authorization", "Bearer "+n.cluster.key)
	r.Header.Set("Content-Type", "application/json")
	if idempotency != "" {
		r.Header.Set("Idempotency-Key", idempotency)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = got.Body.Close() }() // the body was read
	out := response{status: got.StatusCode, header: got.Header}
	return out, json.UnmarshalRead(got.Body, &out.body)
}

// must sends a request and returns the body of the response, which must have the status.
func (n *node) must(t *testing.T, status int, method, path, body, idempotency string) map[string]any {
	t.Helper()
	got, err := n.send(t.Context(), method, path, body, idempotency)
	if err != nil {
		t.Fatal(err)
	}
	if got.status != status {
		t.Fatalf("%s %s: got %d %v, want %d", method, path, got.status, got.body, status)
	}
	return got.body
}

// until repeats a request until its response has the status, and returns that body. A busy server
// may take longer for a command than a core waits.
func (n *node) until(t *testing.T, status int, method, path, body, idempotency string) (got map[string]any) {
	t.Helper()
	programtest.WaitFor(t, fmt.Sprintf("%s %s returns %d", method, path, status), func() bool {
		last, err := n.send(t.Context(), method, path, body, idempotency)
		if err != nil {
			t.Fatal(err)
		}
		got = last.body
		return last.status == status
	})
	return got
}

const visa = `{"card":{"number":"4111111111111111","exp_month":12,"exp_year":2030,"cvc":"900"}}`

func payment(amount int, method, more string) string {
	return fmt.Sprintf(`{"amount":%d,"currency":"usd","payment_method":%q%s}`, amount, method, more)
}

// with adds parameters to the query of a URL.
func with(t *testing.T, store string, more url.Values) string {
	t.Helper()
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for name := range more {
		q.Set(name, more.Get(name))
	}
	u.RawQuery = q.Encode()
	return u.String()
}
