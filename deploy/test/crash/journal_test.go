package crash_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/crash"
)

func TestHeld(t *testing.T) {
	t.Parallel()
	const txn = "txn_38fw96yze55ns"
	for _, c := range []struct {
		name, lines string
		want        int64
	}{
		{"approved", "a " + txn + " - 00 - 500 0 ppp n\n", 500},
		{"declined", "a " + txn + " - 05 generic_decline 500 0 ppp n\n", 0},
		{"reversed", "a " + txn + " - 00 - 500 0 ppp n\nv reverse_x " + txn + " 00 - 500 0 --- -\n", 0},
		{"reversed, and then approved", "v reverse_x " + txn + " 00 - 500 0 --- -\na " + txn + " - 00 - 500 0 ppp n\n", 500},
		{
			"approved late, and reversed again", "v reverse_x " + txn + " 00 - 5 0 --- -\na " + txn + " - 00 - 5 0 ppp n\n" +
				"v late_x " + txn + " 00 - 5 0 --- -\n", 0,
		},
		{
			"a reversal that was refused",
			"a " + txn + " - 00 - 500 0 ppp n\nv reverse_x " + txn + " 96 processing_error 500 0 --- -\n", 500,
		},
		{"voided by its merchant", "a " + txn + " - 00 - 500 0 ppp n\nv void_x " + txn + " 00 - 500 0 --- -\n", 500},
		{"the second attempt", "v reverse_x " + txn + " 00 - 500 0 --- -\na " + txn + "_2 - 00 - 600 0 ppp n\n", 600},
		{"approved, with an unfinished line behind", "a " + txn + " - 00 - 500 0 ppp n\nv reverse_x " + txn, 500},
		{"both attempts", "a " + txn + " - 00 - 500 0 ppp n\na " + txn + "_2 - 00 - 600 0 ppp n\n", 1100},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "simulator.journal")
			if err := os.WriteFile(path, []byte(c.lines), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := crash.Held(path, txn)
			if err != nil || got != c.want {
				t.Errorf("held = %d, %v, want %d", got, err, c.want)
			}
		})
	}
}

func TestMoved(t *testing.T) {
	t.Parallel()
	const txn, capture, refund = "txn_38fw96yze55ns", "cap_38fw96yze55nt", "re_38fw96yze55nv"
	const captured, refunded = "c " + capture + " " + txn + " 00 - 500 0 --- -\n",
		"r " + refund + " " + txn + " 00 - 5 0 --- -\n"
	const credited = "o " + refund + " - 00 - 700 0 --- -\n"
	released := func(reference string) string { return "v reverse_" + reference + " " + reference + " 00 - 5 0 --- -\n" }
	for _, c := range []struct {
		name, lines string
		kind        byte
		want        []string
	}{
		{"a capture", captured, 'c', []string{capture}},
		{"a refund", refunded, 'r', []string{refund}},
		{"an unlinked refund", credited, 'o', []string{refund}},
		{"of another kind", credited, 'r', nil},
		{"declined", "o " + refund + " - 05 generic_decline 700 0 --- -\n", 'o', nil},
		{"an unlinked refund, and its release", credited + released(refund), 'o', nil},
		{"a refund, and its release", refunded + released(refund), 'r', nil},
		{"a capture, and its release", captured + released(capture), 'c', nil},
		{"a release, and then the unlinked refund", released(refund) + credited, 'o', []string{refund}},
		{
			"a release that was refused", credited + "v reverse_x " + refund + " 96 processing_error 5 0 --- -\n", 'o',
			[]string{refund},
		},
		{
			"a capture that a refund released", captured + "r late_" + capture + " " + capture + " 00 - 500 0 --- -\n", 'c', nil,
		},
		{"the refund that released it", captured + "r late_" + capture + " " + capture + " 00 - 500 0 --- -\n", 'r', nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "simulator.journal")
			if err := os.WriteFile(path, []byte(c.lines), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := crash.Moved(path, c.kind)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("moved = %v, %v, want %v", got, err, c.want)
			}
		})
	}
}

func TestHeld_unreadable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "simulator.journal")
	if err := os.WriteFile(path, []byte("a txn_1 - 00\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := crash.Held(path, "txn_1"); err == nil {
		t.Error("got no error for a line that is none, want one")
	}
}
