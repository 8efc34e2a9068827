package standalone_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestDiskFull fills the disk. A payment is then refused with the reason and changes no data. After
// space returns, payments succeed without a restart. The test mounts a small file system, so it
// runs as root.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=8m"); err != nil {
		t.Fatal("mount a small file system: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	p := start(t, filepath.Join(disk, "data"), "--rate-limit", "0")
	m := merchantOf(t, p)
	pay := func(key string, want int) {
		t.Helper()
		got, err := m.do(t.Context(), http.MethodPost, "/v1/transactions", key,
			`{"amount":100,"currency":"usd","payment_method":"card"}`)
		if err != nil || got.status != want {
			t.Fatalf("got %d %s, %v, want %d", got.status, got.body, err, want)
		}
	}
	health := func(want int, write string) {
		t.Helper()
		got, err := m.do(t.Context(), http.MethodGet, "/v1/health", "", "")
		if err != nil || got.status != want || !strings.Contains(got.body, `"store_write":"`+write+`"`) {
			t.Fatalf("health: got %d %s, %v, want %d and store_write %s", got.status, got.body, err, want, write)
		}
	}
	pay("before", http.StatusCreated)
	health(http.StatusOK, "ok")
	filler := filepath.Join(disk, "filler")
	mustFill(t, filler)
	for i := range 100 {
		pay("full-"+strconv.Itoa(i), http.StatusServiceUnavailable)
		health(http.StatusServiceUnavailable, "failing")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	pay("before", http.StatusCreated)
	for i := range 100 {
		pay("full-"+strconv.Itoa(i), http.StatusCreated)
	}
	waitHealthy(t, m)
	health(http.StatusOK, "ok")
	p.Stop(t)
}

// TestStartOnAFullDisk checks that a start on a full disk reports the reason, and succeeds after
// space returns.
func TestStartOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=8m"); err != nil {
		t.Fatal("mount a small file system: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(disk, "data")
	p := start(t, dir)
	const body = `{"amount":100,"currency":"usd","payment_method":"card"}`
	paid := merchantOf(t, p).must(t, http.MethodPost, "/v1/transactions", "before", body)
	p.Stop(t)
	filler := filepath.Join(disk, "filler")
	mustFill(t, filler)
	_, stderr, code := output(t, "--data", dir, "--listen", "127.0.0.1:0", "--listen-tls", "127.0.0.1:0")
	if code != 1 || !strings.Contains(stderr, "the disk is full") || !strings.Contains(stderr, dir) {
		t.Errorf("got %d, %s, want it to say that the disk is full, and which", code, stderr)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	p = start(t, dir)
	if again := merchantOf(t, p).must(t, http.MethodPost, "/v1/transactions", "before", body); again.body != paid.body ||
		!again.replayed {
		t.Errorf("with room: got %d %s, want %s", again.status, again.body, paid.body)
	}
	p.Stop(t)
}

// waitHealthy waits until the service reports that it is healthy.
func waitHealthy(t *testing.T, m *merchant) {
	t.Helper()
	programtest.WaitFor(t, "the service is healthy", func() bool {
		got, err := m.do(t.Context(), http.MethodGet, "/v1/health", "", "")
		return err == nil && got.status == http.StatusOK
	})
}

// mustFill writes a file until the disk is full.
func mustFill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(bytes.Repeat([]byte{1}, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
