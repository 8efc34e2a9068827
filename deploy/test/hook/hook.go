// Package hook is a merchant's receiver of webhooks: receiver.js with the official library, as a
// program. It is for tests only.
package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// ready is the line by which the receiver acknowledges a secret.
const ready = "\"ready\"\n"

// Delivery is the library's view of one delivery.
type Delivery struct {
	Verified   bool   `json:"verified"` // by the secret of Trust
	ID         string `json:"id"`
	Signatures int    `json:"signatures"`
	EventID    string `json:"event_id"` // "" unless verified
	Body       string `json:"body"`
}

// Receiver is a running receiver.
type Receiver struct {
	URL string // where it takes deliveries

	secrets *os.File
	out     *programtest.Log
}

// Start starts a receiver, which trusts no secret yet, until the end of the test.
func Start(t *testing.T) *Receiver {
	t.Helper()
	in, secrets, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(programtest.MustRoot(t), "deploy", "test", "hook")
	r := &Receiver{secrets: secrets, out: &programtest.Log{}}
	p := programtest.Start(t, programtest.Command{
		Path: "node", Args: []string{filepath.Join(folder, "receiver.js")},
		Env: []string{"NODE_PATH=" + programtest.MustInstallNode(t, "hooks", folder)}, Stdin: in, Stdout: r.out,
	})
	_ = in.Close() // the program has a duplicate
	t.Cleanup(func() { _ = secrets.Close() })
	if r.URL, err = p.Line(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, p.Log)
	}
	return r
}

// Trust makes the receiver verify deliveries by a secret from now on.
func (r *Receiver) Trust(tb testing.TB, secret string) {
	tb.Helper()
	before := strings.Count(r.out.String(), ready)
	if _, err := fmt.Fprintln(r.secrets, secret); err != nil {
		tb.Fatal(err)
	}
	programtest.WaitFor(tb, "the receiver has the secret", func() bool {
		return strings.Count(r.out.String(), ready) > before
	})
}

// All returns all deliveries, in their order.
func (r *Receiver) All(tb testing.TB) []Delivery {
	tb.Helper()
	var all []Delivery
	_, printed, _ := strings.Cut(r.out.String(), "\n")
	for line := range strings.Lines(printed) {
		if line == ready || !strings.HasSuffix(line, "\n") {
			continue
		}
		var d Delivery
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			tb.Errorf("the receiver printed %q: %v", line, err)
		}
		all = append(all, d)
	}
	return all
}

// Of returns the deliveries of one type of event, in their order.
func (r *Receiver) Of(tb testing.TB, kind string) []Delivery {
	tb.Helper()
	var some []Delivery
	for _, d := range r.All(tb) {
		if strings.Contains(d.Body, `"type":"`+kind+`"`) {
			some = append(some, d)
		}
	}
	return some
}
