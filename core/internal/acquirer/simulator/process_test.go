package simulator_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/simulator"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// The environment of a test binary that runs as another process: its task, and the journal's path.
const (
	taskVariable    = "SIMULATOR_TEST_TASK"
	journalVariable = "SIMULATOR_TEST_JOURNAL"
)

const (
	// contested is the number of authorizations that two processes request.
	contested = 400
	// contestedSegment is a size that their lines exceed once.
	contestedSegment = 40 << 10
)

func TestMain(m *testing.M) {
	task := os.Getenv(taskVariable)
	if task == "" {
		os.Exit(m.Run())
	}
	if err := runTask(task); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// runTask is the body of another process. It waits for the end of its input, so that two processes
// begin together.
func runTask(task string) error {
	cfg := simulator.Config{Journal: os.Getenv(journalVariable), Clock: clock.NewFake(now)}
	s, err := simulator.OpenSmall(cfg, 100_000, contestedSegment)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(os.Stdout, "opened"); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	ctx := context.Background()
	switch task {
	case "authorize without a response":
		_, err := s.Authorize(ctx, authorization(s, "txn_killed", "pm_card_timeout_after_effect", 700))
		return err
	case "void":
		return contest(s, 100, func(n int) error {
			_, err := s.Void(ctx, step("void", n, 100))
			return err
		})
	case "capture":
		return contest(s, 200, func(n int) error {
			_, err := s.Capture(ctx, step("cap", n, 200))
			return err
		})
	default:
		return fmt.Errorf("unknown task %q", task)
	}
}

func authorization(s *simulator.Simulator, reference, method string, amount int64) acquirer.Authorize {
	card, _ := s.Fixture(method)
	return acquirer.Authorize{
		Reference: reference, Amount: amount, Currency: "usd", Source: acquirer.Source{Card: card},
	}
}

func step(kind string, n int, amount int64) acquirer.Follow {
	return acquirer.Follow{
		Reference: fmt.Sprint(kind, "_", n), Original: acquirer.Sent{Reference: fmt.Sprint("txn_", n)}, Amount: amount, Currency: "usd",
	}
}

// contest requests all authorizations, each followed by a step, and prints the responses.
func contest(s *simulator.Simulator, amount int64, follow func(n int) error) error {
	for n := range contested {
		a, err := s.Authorize(context.Background(), authorization(s, fmt.Sprint("txn_", n), "pm_card_visa", amount))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(os.Stdout, "txn_%d %+v\n", n, a); err != nil {
			return err
		}
		if err := follow(n); err != nil {
			return err
		}
	}
	return nil
}

// launch starts a task, which waits until begin is called.
func launch(t *testing.T, task, journal string) (p *programtest.Program, begin func()) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	input, begun := io.Pipe()
	p = programtest.Start(t, programtest.Command{
		Path: binary, Env: []string{taskVariable + "=" + task, journalVariable + "=" + journal}, Stdin: input,
	})
	begin = func() { _ = begun.Close() } // it never fails
	t.Cleanup(begin)
	p.MustLog(t, "opened\n")
	return p, begin
}

// TestJournal_twoProcesses lets two processes request the same authorizations of different amounts.
// One process voids each authorization, and the other captures it. Each request takes effect once,
// and both processes see the same order.
func TestJournal_twoProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	voids, beginVoids := launch(t, "void", path)
	captures, beginCaptures := launch(t, "capture", path)
	beginVoids()
	beginCaptures()
	for _, p := range []*programtest.Program{voids, captures} {
		<-p.Ended()
		if err := p.Err(); err != nil {
			t.Fatalf("%v\n%s", err, p.Log)
		}
	}
	if voids.Log.String() != captures.Log.String() {
		t.Errorf("the responses differ:\n%s\n%s", voids.Log, captures.Log)
	}
	text := append(mustRead(t, path+".1"), mustRead(t, path)...)
	voided, seen := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if kind, reference, authorization := f[0], f[1], f[2]; seen[reference] {
			t.Errorf("%s took effect twice", reference)
		} else if approved := f[3] == "00"; kind == "c" && approved == voided[authorization] {
			t.Errorf("%s: approved %t, voided before %t", reference, approved, voided[authorization])
		}
		seen[f[1]] = true
		voided[f[2]] = voided[f[2]] || f[0] == "v"
	}
	if got, want := len(seen), 3*contested; got != want {
		t.Errorf("got %d references, want %d", got, want)
	}
}

// TestJournal_killedBeforeTheResponse: a process dies after the effect and before the response. Any
// other process then finds the effect, and repeats its response.
func TestJournal_killedBeforeTheResponse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	other := mustOpen(t, simulator.Config{Journal: path})
	p, begin := launch(t, "authorize without a response", path)
	if _, err := other.Inquire(t.Context(), acquirer.Sent{Reference: "txn_killed"}); !errors.Is(err, acquirer.ErrNotFound) {
		t.Errorf("before the request: got %v, want %v", err, acquirer.ErrNotFound)
	}
	begin()
	programtest.WaitFor(t, "the effect is recorded", func() bool {
		return bytes.Contains(mustRead(t, path), []byte("txn_killed"))
	})
	p.Kill()
	for name, s := range map[string]*simulator.Simulator{
		"running": other, "started later": mustOpen(t, simulator.Config{Journal: path}),
	} {
		if a, err := s.Inquire(t.Context(), acquirer.Sent{Reference: "txn_killed"}); err != nil || !a.Approved || a.Amount != 700 {
			t.Errorf("%s: got %+v, %v, want an approval of 700", name, a, err)
		}
		again := authorization(s, "txn_killed", "pm_card_visa", 1)
		if a, err := s.Authorize(t.Context(), again); err != nil || a.Amount != 700 {
			t.Errorf("%s: repeated: got %+v, %v, want 700", name, a, err)
		}
	}
	if n := bytes.Count(mustRead(t, path), []byte("\n")); n != 1 {
		t.Errorf("got %d lines, want 1", n)
	}
}
