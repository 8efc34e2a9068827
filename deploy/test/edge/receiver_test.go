package edge_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/test/sdk"
)

// receiver is a merchant's receiver of webhooks, by the official library.
type receiver struct {
	url string

	mu  sync.Mutex
	got []delivery // guarded by mu
}

// delivery is what the library says of one.
type delivery struct {
	Verified bool   `json:"verified"`
	ID       string `json:"id"`
	Body     string `json:"body"`
}

// receive starts one, and has v1 deliver to it.
func (r *room) receive(t *testing.T) *receiver {
	t.Helper()
	folder, err := filepath.Abs("../hook")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(folder, "receiver.js"))
	cmd.Env, cmd.Stderr = append(os.Environ(), "NODE_PATH="+sdk.InstallNode(t, "hooks", folder)), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("node: %v (this test needs it on PATH)", err)
	}
	lines := bufio.NewReader(out)
	url, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	made := r.api(t, r.client(t, nil), "POST", "/v1/webhook_endpoints", `{"url":"`+strings.TrimSpace(url)+`","enabled_events":["*"]}`)
	var endpoint struct {
		Secret string `json:"secret"`
	}
	if err := json.Unmarshal([]byte(made.body), &endpoint); err != nil || endpoint.Secret == "" {
		t.Fatalf("webhook endpoint: %d %s", made.status, made.body)
	}
	if _, err := fmt.Fprintln(in, endpoint.Secret); err != nil {
		t.Fatal(err)
	}
	if ready, err := lines.ReadString('\n'); err != nil || ready != "\"ready\"\n" {
		t.Fatalf("the receiver says %q, %v", ready, err)
	}
	w := &receiver{url: strings.TrimSpace(url)}
	ended := make(chan struct{})
	go func() { defer close(ended); w.read(lines) }()
	t.Cleanup(func() {
		_ = in.Close() // which ends it
		<-ended
		_ = cmd.Wait() // its context may have killed it
	})
	return w
}

func (w *receiver) read(lines *bufio.Reader) {
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		d := delivery{}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			d.Body = line
		}
		w.mu.Lock()
		w.got = append(w.got, d)
		w.mu.Unlock()
	}
}

// of are the deliveries of a type of event, in their order.
func (w *receiver) of(kind string) []delivery {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []delivery
	for _, d := range w.got {
		if strings.Contains(d.Body, `"type":"`+kind+`"`) {
			out = append(out, d)
		}
	}
	return out
}
