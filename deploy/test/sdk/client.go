package sdk

import (
	"bufio"
	"io"
	"os"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// Client is an installed official client.
type Client struct {
	Name         string
	Command, Env []string
	Brief        bool     // it runs only the first part of the script
	blind        []string // response fields that its models lack
}

// clientPatience is the limit for all steps of a client.
const clientPatience = 10 * time.Minute

// open starts the client's program and returns a function that executes a request in it, for this
// test or a subtest. The end of the test closes the program's input, which ends the program.
func (c Client) open(t *testing.T, s *System) func(*testing.T, values) values {
	t.Helper()
	stdin, in := pipe(t)
	out, stdout := pipe(t)
	stderr := &programtest.Log{}
	p, err := programtest.Launch(programtest.Command{
		// clients write log files to their working directory
		Path: c.Command[0], Args: c.Command[1:], Env: c.Env, Dir: t.TempDir(),
		Stdin: stdin, Stdout: stdout, Stderr: stderr,
	})
	_, _ = stdin.Close(), stdout.Close() // the program has duplicates
	if err != nil {
		t.Fatalf("%s: %v (this test needs it on PATH)", c.Name, err)
	}
	late := time.AfterFunc(clientPatience, p.Kill)
	t.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		if err := p.Err(); err != nil && !t.Failed() {
			t.Errorf("%s: %v\n%s", c.Name, err, stderr)
		}
		late.Stop()
	})
	lines := bufio.NewReader(out)
	return func(t *testing.T, send values) values {
		t.Helper()
		line, err := json.Marshal(send)
		if err != nil {
			t.Fatal(err)
		}
		_, err = in.Write(append(line, '\n'))
		if err != nil {
			t.Fatalf("%s: %s: %v\n%s", c.Name, send["step"], err, stderr)
		}
		printed, err := lines.ReadString('\n')
		var got values
		if err == nil {
			err = json.Unmarshal([]byte(printed), &got)
		}
		if err != nil {
			t.Fatalf("%s: %s: %v\nprinted %q\n%s\nthe system:\n%s", c.Name, send["step"], err, printed, stderr, s.Log)
		}
		return got
	}
}

// pipe returns both ends of a pipe, which the end of the test closes.
func pipe(t *testing.T) (from, to *os.File) {
	t.Helper()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = from.Close(), to.Close() }) // they may be closed already
	return from, to
}
