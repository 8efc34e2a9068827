package crashtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/deploy/standalone/crashtest"
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
		{"approved late, and reversed again", "v reverse_x " + txn + " 00 - 5 0 --- -\na " + txn + " - 00 - 5 0 ppp n\nv late_x " + txn + " 00 - 5 0 --- -\n", 0},
		{"a reversal that was refused", "a " + txn + " - 00 - 500 0 ppp n\nv reverse_x " + txn + " 96 processing_error 500 0 --- -\n", 500},
		{"voided by its merchant", "a " + txn + " - 00 - 500 0 ppp n\nv void_x " + txn + " 00 - 500 0 --- -\n", 500},
		{"the second attempt", "v reverse_x " + txn + " 00 - 500 0 --- -\na " + txn + "_2 - 00 - 600 0 ppp n\n", 600},
		{"both attempts", "a " + txn + " - 00 - 500 0 ppp n\na " + txn + "_2 - 00 - 600 0 ppp n\n", 1100},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "simulator.journal"), []byte(c.lines), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := crashtest.Held(dir, txn)
			if err != nil || got != c.want {
				t.Errorf("held = %d, %v, want %d", got, err, c.want)
			}
		})
	}
}

func TestHeld_unreadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "simulator.journal"), []byte("a txn_1 - 00\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := crashtest.Held(dir, "txn_1"); err == nil {
		t.Error("got no error for a line that is none, want one")
	}
}
