package sdk

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Client is a real one, installed.
type Client struct {
	Name         string
	Command, Env []string
	Brief        bool     // it does not go all the way
	blind        []string // what it cannot read in answers, for its models have no place for it
}

// open starts the client's program and returns how to have it execute a request. The test's end stops it.
func (c Client) open(t *testing.T, s *System) func(values) values {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Minute) // it ends by itself, in the cleanup
	cmd := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...)                        //nolint:gosec // the program is ours to choose
	cmd.Dir = t.TempDir()                                                                  // clients leave log files where they run
	cmd.Env = append(os.Environ(), c.Env...)
	stderr := &programtest.Log{}
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%s: %v (this test needs it on PATH)", c.Name, err)
	}
	t.Cleanup(func() {
		_ = in.Close() // which is how it is told to end
		_, _ = io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil && !t.Failed() {
			t.Errorf("%s: %v\n%s", c.Name, err, stderr)
		}
		cancel()
	})
	lines := bufio.NewReader(out)
	return func(send values) values {
		t.Helper()
		line, err := json.Marshal(send)
		if err != nil {
			t.Fatal(err)
		}
		_, err = in.Write(append(line, '\n'))
		if err != nil {
			t.Fatalf("%s: %s: %v\n%s", c.Name, send["step"], err, stderr)
		}
		answer, err := lines.ReadString('\n')
		var got values
		if err == nil {
			err = json.Unmarshal([]byte(answer), &got)
		}
		if err != nil {
			t.Fatalf("%s: %s: %v\nprinted %q\n%s\nthe system:\n%s", c.Name, send["step"], err, answer, stderr, s.Log)
		}
		return got
	}
}
