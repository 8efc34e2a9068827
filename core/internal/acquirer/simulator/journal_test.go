package simulator_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/core/internal/acquirer"
	"github.com/causeway-pay/causeway/core/internal/acquirer/simulator"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

func TestJournal_survives(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	killed := mustOpen(t, simulator.Config{Journal: path}) // never closed before the next opens
	want := map[string]acquirer.Response{}

	r := request(t, killed, "txn_1", "pm_card_visa")
	r.Card.CVC, r.Billing = secret.New("900"), acquirer.Billing{AddressLine: "1 Main", PostalCode: "46201"}
	r.ThreeDSecure.CAVV = secret.New("AAABBB")
	want["txn_1"] = mustAuthorize(t, killed, r)
	want["txn_2"] = mustAuthorize(t, killed, request(t, killed, "txn_2", "pm_card_lost"))
	linked := request(t, killed, "txn_3", "pm_card_visa")
	linked.Card.Number = secret.New("5555555555554444")
	if want["txn_3"] = mustAuthorize(t, killed, linked); len(want["txn_3"].NetworkLinkID) != 22 {
		t.Errorf("got the link id %q, want 22 characters", want["txn_3"].NetworkLinkID)
	}
	want["cap_1"] = mustFollow(t, killed.Capture, "cap_1", "txn_1", 1000)
	want["re_1"] = mustFollow(t, killed.Refund, "re_1", "txn_1", 131313)
	want["void_1"] = mustFollow(t, killed.Void, "void_1", "txn_1", 999)
	released := want["txn_1"]
	released.Released = true
	want["txn_1"] = released
	want["void_2"] = mustFollow(t, killed.Void, "void_2", "txn_late", 1999)

	if got, want := want["txn_1"].Checks.Codes, (acquirer.ResultCodes{AVS: "A", CVC: "M", CAVV: "2"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	s := mustOpen(t, simulator.Config{Journal: path})
	for reference, response := range want {
		if got, err := s.Inquire(t.Context(), acquirer.Sent{Reference: reference}); err != nil || got != response {
			t.Errorf("%s: got %+v, %v, want %+v", reference, got, err, response)
		}
	}
	if got := mustFollow(t, s.Capture, "cap_2", "txn_1", 1); got.Approved {
		t.Errorf("capture of what was voided: got %+v, want a decline", got)
	}
	late := mustAuthorize(t, s, request(t, s, "txn_late", "pm_card_visa"))
	if late.Approved {
		t.Errorf("late: got %+v, want a decline", late)
	}
	s = mustOpen(t, simulator.Config{Journal: path})
	if got, err := s.Inquire(t.Context(), acquirer.Sent{Reference: "txn_late"}); err != nil || got != late {
		t.Errorf("late, once more: got %+v, %v, want %+v", got, err, late)
	}
	if got, want := bytes.Count(mustRead(t, path), []byte{'\n'}), len(want)+2; got != want {
		t.Errorf("got %d lines, want %d: one an effect", got, want)
	}
}

func TestJournal_damage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	whole := "a txn_1 - 00 - 1999 0 ppp n\n"
	text := "\n\x00\x00\x00\nnonsense\na txn_x - 77 no_such_code 1999 0 ppp n\na txn_x - 00 - many 0 ppp n\n" +
		"a txn_x - 00 - 1 0 zzz n\nz txn_x - 00 - 1 0 ppp n\na txn_x - 00 - 1 0 ppp n more\n" +
		"a txn_x - 00 - 1 0 ppp n t5 6\na txn_x - 00 - 1 0 ppp n t\na txn_x - 00 - 1 0 ppp n b\na txn_x - 00 - 1 0 ppp n bx\na txn_x - 00 - 1 0 ppp n b1 \n" +
		"a txn_x - 00 - 1 0 ppp n kY-\na txn_x - 00 - 1 0 ppp n kyyy\na txn_x - 00 - 1 0 ppp n k\n" +
		"a txn_x - 00 - 1 0 ppp n p\na txn_x - 00 - 1 0 ppp n pabc\na txn_x - 00 - 1 0 ppp n pABCDEFG\n" + whole + "a txn_torn - 00 - 1999 0 pp"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, simulator.Config{Journal: path})
	if got, err := s.Inquire(t.Context(), acquirer.Sent{Reference: "txn_1"}); err != nil || !got.Approved || got.Amount != 1999 {
		t.Errorf("whole line: got %+v, %v, want an approval", got, err)
	}
	for _, reference := range []string{"txn_x", "txn_torn"} {
		if got, err := s.Inquire(t.Context(), acquirer.Sent{Reference: reference}); !errors.Is(err, acquirer.ErrNotFound) {
			t.Errorf("%s: got %+v, %v, want %v", reference, got, err, acquirer.ErrNotFound)
		}
	}
	want := mustAuthorize(t, s, request(t, s, "txn_torn", "pm_card_visa"))
	s = mustOpen(t, simulator.Config{Journal: path})
	if got, err := s.Inquire(t.Context(), acquirer.Sent{Reference: "txn_torn"}); err != nil || got != want {
		t.Errorf("written after the torn line: got %+v, %v, want %+v", got, err, want)
	}
}

// TestJournal_tornByAnotherProcess: a process was killed in the middle of a line. The other
// processes continue, and the partial line has no effect.
func TestJournal_tornByAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	s, other := mustOpen(t, simulator.Config{Journal: path}), mustOpen(t, simulator.Config{Journal: path})
	mustAuthorize(t, s, request(t, s, "txn_1", "pm_card_visa"))
	torn, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := torn.WriteString("a txn_torn - 00 - 1999 0 pp"); err != nil {
		t.Fatal(err)
	}
	if err := torn.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Inquire(t.Context(), acquirer.Sent{Reference: "txn_torn"}); !errors.Is(err, acquirer.ErrNotFound) {
		t.Errorf("torn: got %v, want %v", err, acquirer.ErrNotFound)
	}
	want := mustAuthorize(t, s, request(t, s, "txn_2", "pm_card_visa"))
	for name, s := range map[string]*simulator.Simulator{"running": other, "new": mustOpen(t, simulator.Config{Journal: path})} {
		if got, err := s.Inquire(t.Context(), acquirer.Sent{Reference: "txn_2"}); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
	if got := bytes.Count(mustRead(t, path), []byte("\n")); got != 2 {
		t.Errorf("got %d lines, want 2", got)
	}
}

func TestJournal_bounded(t *testing.T) {
	t.Parallel()
	const generation, segment, requests = smallGeneration, 600, 200
	const line = 64 // a file ends with the line that reaches its limit
	path := filepath.Join(t.TempDir(), "journal")
	cfg := simulator.Config{Journal: path, Clock: clock.NewFake(now)}
	s := mustOpenSmall(t, cfg, segment)
	idle := mustOpenSmall(t, cfg, segment) // as another process
	for i := range requests {
		mustAuthorize(t, s, request(t, s, fmt.Sprint("txn_", i), "pm_card_visa"))
		for _, file := range []string{path, path + ".1"} {
			if info, err := os.Stat(file); err == nil && info.Size() > segment+line {
				t.Fatalf("%s: got %d bytes, want at most %d", filepath.Base(file), info.Size(), segment+line)
			}
		}
	}
	again := mustOpenSmall(t, cfg, segment)
	for name, s := range map[string]*simulator.Simulator{"running": s, "idle": idle, "reopened": again} {
		if got := remembered(t, s, requests); got < generation || got > 2*generation {
			t.Errorf("%s: got %d of the last requests, want %d to %d", name, got, generation, 2*generation)
		}
	}
}

func TestJournal_holdsNoCardData(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	s := mustOpen(t, simulator.Config{Journal: path})
	r := request(t, s, "txn_1", "pm_card_visa")
	r.Card.CVC, r.Billing = secret.New("8675"), acquirer.Billing{AddressLine: "Elm Street", PostalCode: "46217"}
	mustAuthorize(t, s, r)
	text := mustRead(t, path)
	for _, planted := range []string{"4242424242424242", "4242", "8675", "Elm", "46217", "visa"} {
		if bytes.Contains(text, []byte(planted)) {
			t.Errorf("the journal holds %q", planted)
		}
	}
}

func TestJournal_fails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	s := mustOpenSmall(t, simulator.Config{Journal: path}, 1)
	mustAuthorize(t, s, request(t, s, "txn_1", "pm_card_visa"))
	if err := os.MkdirAll(filepath.Join(path+".1", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.Authorize(t.Context(), request(t, s, "txn_2", "pm_card_visa")); !errors.Is(err, acquirer.ErrUnavailable) {
			t.Errorf("got %v, want %v", err, acquirer.ErrUnavailable)
		}
	}
	if err := os.RemoveAll(path + ".1"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Inquire(t.Context(), acquirer.Sent{Reference: "txn_1"}); err != nil {
		t.Errorf("recorded: got %v, want no error", err)
	}
	if _, err := s.Inquire(t.Context(), acquirer.Sent{Reference: "txn_2"}); !errors.Is(err, acquirer.ErrNotFound) {
		t.Errorf("not recorded: got %v, want %v", err, acquirer.ErrNotFound)
	}
}

func TestOpen_unreadableJournal(t *testing.T) {
	t.Parallel()
	if _, err := simulator.Open(simulator.Config{Journal: t.TempDir()}); err == nil {
		t.Error("got no error for a folder, want one")
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, simulator.Config{Journal: filepath.Join(t.TempDir(), "journal")})
	mustAuthorize(t, s, request(t, s, "txn_1", "pm_card_visa"))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("close: got %v, want no error", err)
		}
	}
	if _, err := s.Authorize(t.Context(), request(t, s, "txn_2", "pm_card_visa")); !errors.Is(err, acquirer.ErrUnavailable) {
		t.Errorf("got %v, want %v", err, acquirer.ErrUnavailable)
	}
	if _, err := s.Inquire(t.Context(), acquirer.Sent{Reference: "txn_1"}); !errors.Is(err, acquirer.ErrUnavailable) {
		t.Errorf("inquire: got %v, want %v", err, acquirer.ErrUnavailable)
	}
}

// BenchmarkAuthorize has 64 callers and a journal.
func BenchmarkAuthorize(b *testing.B) {
	s := mustOpen(b, simulator.Config{Journal: filepath.Join(b.TempDir(), "journal")})
	r := request(b, s, "", "pm_card_visa")
	var next atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		mine := r
		for pb.Next() {
			mine.Reference = fmt.Sprintf("txn_%013d", next.Add(1))
			if _, err := s.Authorize(b.Context(), mine); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkOpen loads a full journal.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "journal")
	s := mustOpen(b, simulator.Config{Journal: path})
	for i := range 350_000 {
		mustAuthorize(b, s, request(b, s, fmt.Sprintf("txn_%013d", i), "pm_card_visa"))
	}
	b.ReportAllocs()
	for b.Loop() {
		again, err := simulator.Open(simulator.Config{Journal: path})
		if err != nil {
			b.Fatal(err)
		}
		if err := again.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// smallGeneration is the number of references in a generation of a small memory.
const smallGeneration = 10

func mustOpenSmall(tb testing.TB, cfg simulator.Config, segment int64) *simulator.Simulator {
	tb.Helper()
	s, err := simulator.OpenSmall(cfg, smallGeneration, segment)
	if err != nil {
		tb.Fatalf("open: %v", err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

func mustRead(tb testing.TB, path string) []byte {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// remembered counts, from the last request backwards, the requests that are still found.
func remembered(tb testing.TB, s *simulator.Simulator, requests int) int {
	tb.Helper()
	found := 0
	for i := requests - 1; i >= 0; i-- {
		if _, err := s.Inquire(tb.Context(), acquirer.Sent{Reference: fmt.Sprint("txn_", i)}); err != nil {
			break
		}
		found++
	}
	return found
}

// TestJournal_finalCapture: the line of a final capture has the flag, the line of another capture
// does not, and both are read again. The following requests may come in any order.
func TestJournal_finalCapture(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	s := mustOpen(t, simulator.Config{Journal: path})
	mustAuthorize(t, s, request(t, s, "txn_1", "pm_card_visa"))
	want := map[string]acquirer.Response{}
	for reference, final := range map[string]bool{"cap_1": false, "cap_2": true} {
		a, err := s.Capture(t.Context(), acquirer.Follow{
			Reference: reference, Original: acquirer.Sent{Reference: "txn_1"}, Amount: 40, Currency: "usd", Final: final,
		})
		if err != nil || !a.Approved {
			t.Fatalf("%s: got %+v, %v, want an approval", reference, a, err)
		}
		want[reference] = a
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if got, want := bytes.HasSuffix(line, []byte(" final\n")), bytes.HasPrefix(line, []byte("c cap_2 ")); got != want {
			t.Errorf("%s: got final %t, want %t", line, got, want)
		}
	}
	s = mustOpen(t, simulator.Config{Journal: path})
	for reference, response := range want {
		if got, err := s.Inquire(t.Context(), acquirer.Sent{Reference: reference}); err != nil || got != response {
			t.Errorf("%s: got %+v, %v, want %+v", reference, got, err, response)
		}
	}
}
