//go:build unix

package programtest_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// script returns a program of the shell.
func script(text string) programtest.Command {
	return programtest.Command{Path: "/bin/sh", Args: []string{"-c", text}}
}

// TestProgram: the log has both outputs, a listener's address is read from it, and the program ends
// by a signal.
func TestProgram(t *testing.T) {
	t.Parallel()
	c := script(`trap 'exit 3' TERM; echo "own: $OWN"; echo '{"listener":"admin","address":"127.0.0.1:1"}' >&2
		echo '{"msg":"x: listening","listener":"listen","address":"127.0.0.1:2"}' >&2; while :; do sleep 0.01; done`)
	c.Env = []string{"OWN=1"}
	p := programtest.Start(t, c)
	if got, want := p.MustAddress(t, "listen"), "127.0.0.1:2"; got != want {
		t.Errorf("address: got %s, want %s", got, want)
	}
	p.MustLog(t, "own: 1")
	var exit *exec.ExitError
	if err := p.Terminate(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("got %v, want exit code 3", err)
	}
	p.Kill() // which has no effect then
	if err := p.Listens(t.Context(), "127.0.0.1:1"); err == nil {
		t.Error("a program that has ended listens")
	}
}

// TestKill: a program that ignores SIGTERM ends by SIGKILL.
func TestKill(t *testing.T) {
	t.Parallel()
	p := programtest.Start(t, script(`trap '' TERM; echo up; while :; do sleep 0.01; done`))
	p.MustLog(t, "up")
	p.Signal(syscall.SIGTERM)
	p.Kill()
	var exit *exec.ExitError
	if err := p.Err(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("got %v, want SIGKILL", err)
	}
}

// TestPause: a paused program does nothing until Resume, and a second Pause changes nothing.
func TestPause(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "beats")
	c := script(`while :; do echo beat >>"$FILE"; done`)
	c.Env = []string{"FILE=" + file}
	p := programtest.Start(t, c)
	beats := func() int64 {
		info, err := os.Stat(file)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	for range 3 {
		before := beats()
		programtest.WaitFor(t, "the program goes on", func() bool { return beats() > before })
		p.Pause()
		p.Pause()
		still := beats()
		for range 200 {
			runtime.Gosched()
			if got := beats(); got != still {
				t.Fatalf("a paused program wrote: %d bytes, then %d", still, got)
			}
		}
		p.Resume()
	}
	p.Kill()
	p.Pause() // which has no effect then
}

// TestPauseWhileItEnds: Pause returns if the program ends, and leaves its exit status to Err.
func TestPauseWhileItEnds(t *testing.T) {
	t.Parallel()
	for range 200 {
		p := programtest.Start(t, script("exec sleep 60"))
		var both sync.WaitGroup
		both.Go(p.Pause)
		both.Go(func() { p.Signal(syscall.SIGKILL) })
		both.Wait()
		var exit *exec.ExitError
		if err := p.Err(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("got %v, want SIGKILL", err)
		}
	}
}

// TestOutput: stdout and stderr stay separate, and a Bare environment has no other variable.
func TestOutput(t *testing.T) {
	t.Setenv("OTHER", "set")
	c := script(`echo "$OWN$OTHER"; echo wrong >&2; exit 4`)
	c.Env, c.Bare = []string{"OWN=1"}, true
	stdout, stderr, err := programtest.Output(t.Context(), c)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 4 || stdout != "1\n" || stderr != "wrong\n" {
		t.Errorf("got %q, %q, %v", stdout, stderr, err)
	}
}

// TestLog: a limited log keeps the end.
func TestLog(t *testing.T) {
	t.Parallel()
	all, end := &programtest.Log{}, &programtest.Log{Most: 10}
	for _, line := range strings.SplitAfter("0123456789 abcdefghij klmnopqrst last", " ") {
		for _, l := range []*programtest.Log{all, end} {
			_, _ = l.Write([]byte(line)) // it never fails
		}
	}
	if got, want := all.String(), "0123456789 abcdefghij klmnopqrst last"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := end.String(); !strings.HasSuffix(got, "last") || strings.Contains(got, "0123") {
		t.Errorf("got %q, want the end", got)
	}
}

// TestPrograms: all callers get one folder, whose program is a link to the built program.
func TestPrograms(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	folders := make([]string, 4)
	for n := range folders {
		all.Go(func() { folders[n], _ = programtest.Programs(t.Context(), "passthrough") })
	}
	all.Wait()
	for _, f := range folders[1:] {
		if f != folders[0] || f == "" {
			t.Fatalf("got %q, want one folder", folders)
		}
	}
	own, err := os.Stat(filepath.Join(folders[0], "passthrough"))
	if err != nil {
		t.Fatal(err)
	}
	common, err := os.Stat(filepath.Join(folders[0], "..", "passthrough"))
	if err != nil || !os.SameFile(own, common) {
		t.Errorf("the program was copied: %v", err)
	}
	if _, err := programtest.Programs(t.Context(), "nothing"); err == nil {
		t.Error("built a program that there is not")
	}
}

// TestVariant: the program contains the added file. A replacement for a file that does not exist is
// refused.
func TestVariant(t *testing.T) {
	t.Parallel()
	const own = "package main\n\nimport \"os\"\n\n" +
		"func init() { os.Stdout.WriteString(\"of the variant\\n\"); os.Exit(0) }\n"
	v := programtest.Variant{
		Name: "own", Programs: []string{"passthrough"}, Added: map[string]string{"deploy/bench/passthrough/own.go": own},
	}
	folder, err := v.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := programtest.MustOutput(t, programtest.Command{Path: filepath.Join(folder, "passthrough")})
	if want := "of the variant"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for name, wrong := range map[string]programtest.Variant{
		"nothing": {Name: "nothing", Replaced: map[string]string{"deploy/bench/passthrough/own.go": own}},
		"taken":   {Name: "taken", Added: map[string]string{"deploy/bench/passthrough/main.go": own}},
	} {
		if _, err := wrong.Build(t.Context()); err == nil {
			t.Errorf("%s was built", name)
		}
	}
}

// TestAddresses: no two addresses are equal, each port of a host is free, and another process
// cannot use either.
func TestAddresses(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 20 {
		host, port := programtest.Host(t), programtest.MustPort(t)
		if seen[host] || seen[port] || programtest.Listening(t.Context(), host+":8080") {
			t.Errorf("%s and %s are in use", host, port)
		}
		claim := strings.Replace(port, "127.0.0.1", "127.255.255.254", 1)
		if !programtest.Listening(t.Context(), host+":65535") || !programtest.Listening(t.Context(), claim) {
			t.Errorf("%s and %s are not claimed", host, port)
		}
		seen[host], seen[port] = true, true
	}
}
