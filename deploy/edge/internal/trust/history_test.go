package trust_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/deploy/edge/internal/trust"
)

// TestHistoryThatCannotBeRead checks that an unreadable history stops the start and stays
// unchanged.
func TestHistoryThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.live(t, s.pair(t))
	path := filepath.Join(s.cfg.Folder, "trust.json")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"empty": "", "cut": string(good[:len(good)/2]), "another file": "{}",
		"a newer one":       strings.Replace(string(good), `"version": 1`, `"version": 2`, 1),
		"an unknown member": strings.Replace(string(good), `"version"`, `"secret": 1, "version"`, 1),
		"no id":             strings.Replace(string(good), `"id": "rot_`, `"id": "", "kind": "rot_`, 1),
		"null":              strings.Replace(string(good), `"current": {`, `"current": {}, "next": {`, 1),
	} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := trust.Open(s.cfg); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want an error that names the file", name, err)
		}
		if left, err := os.ReadFile(path); err != nil || string(left) != bad {
			t.Errorf("%s: it was replaced by %s, %v", name, left, err)
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	s.open(t)
	if entries, err := os.ReadDir(s.cfg.Folder); err != nil || len(entries) != 1 {
		t.Errorf("files: got %v, %v, want one", entries, err)
	}
}

// TestHistoryThatCannotBeWritten checks that no change is published before it is written. A
// repeated call succeeds.
func TestHistoryThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := begin(t)
	first, second := s.pair(t), s.pair(t)
	s.live(t, first)
	path := filepath.Join(s.cfg.Folder, "trust.json")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	aside := s.cfg.Folder + "-aside"
	if err := os.Rename(s.cfg.Folder, aside); err != nil {
		t.Fatal(err)
	}
	if err := s.Live(t.Context(), second); err == nil {
		t.Fatal("no error")
	}
	if got := s.fingerprints(t); got.Current[0].CertificateSha256 != sum(first) {
		t.Errorf("got %+v", got.Current)
	}
	if err := os.Rename(aside, s.cfg.Folder); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadFile(path); err != nil || !bytes.Equal(left, before) {
		t.Errorf("got %s, %v", left, err)
	}
	s.live(t, second)
	if got := s.fingerprints(t); got.Current[0].CertificateSha256 != sum(second) || len(s.calendar(t).Events) != 2 {
		t.Errorf("got %+v", got.Current)
	}
}

// TestHistoryIsBounded checks the limits of the history under constant rotation.
func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	s := begin(t)
	a, b := s.pair(t), s.pair(t)
	for range 2 {
		s.live(t, a)
		s.live(t, b)
	}
	s.grow(t, 119, 0)
	for range 2 {
		s.live(t, a)
		s.live(t, b)
	}
	info, err := os.Stat(filepath.Join(s.cfg.Folder, "trust.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(s.calendar(t).Events); got != 121 || info.Size() > 2<<20 {
		t.Errorf("got %d events in %d bytes", got, info.Size())
	}
}

// grow repeats the last past change and the last event of the history up to these numbers, and
// reopens it. So many rotations would write the file as often.
func (s *published) grow(t *testing.T, past, outbox int) {
	t.Helper()
	path, history := filepath.Join(s.cfg.Folder, "trust.json"), map[string]any{}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &history); err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{"past": past, "outbox": outbox} {
		all, _ := history[name].([]any)
		for len(all) < n {
			all = append(all, all[len(all)-1])
		}
		history[name] = all
	}
	if text, err = json.Marshal(history); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s.open(t)
}
