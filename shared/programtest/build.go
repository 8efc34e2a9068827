//go:build unix

package programtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// module is the beginning of the import path of each of our packages.
const module = "github.com/causeway-pay/causeway/"

// packages are the main packages of the programs, below module.
var packages = map[string]string{ //nolint:gosec // "passthrough" is not a password
	"core":         "core/cmd/core",
	"mle-filter":   "mle-filter/cmd/mle-filter",
	"compat-proxy": "compat-proxy/cmd/compat-proxy",
	"edge":         "deploy/edge/cmd/edge",
	"standalone":   "deploy/standalone",
	"passthrough":  "deploy/bench/passthrough",
}

// Root returns the folder of the repository: that of go.work, above the working folder.
func Root() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		switch _, err := os.Stat(filepath.Join(dir, "go.work")); {
		case err == nil:
			return dir, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		case dir == filepath.Dir(dir):
			return "", fmt.Errorf("%s is not in a checkout: no go.work above it", start)
		}
	}
}

// MustRoot is Root for a test.
func MustRoot(tb testing.TB) string {
	tb.Helper()
	root, err := Root()
	if err != nil {
		tb.Fatal(err)
	}
	return root
}

// built are the programs that this process has requested.
var built struct {
	mu     sync.Mutex
	folder string
	names  map[string]bool
}

// Programs builds programs of this tree, by their names, and returns the folder that contains them.
//
// All processes build into one folder of .cache, one after the other, so that each program is built
// once for all tests of a run. Each process gets links to them, so that a later build of other
// sources replaces no program that its tests still start.
func Programs(ctx context.Context, names ...string) (string, error) {
	built.mu.Lock()
	defer built.mu.Unlock()
	common, err := open()
	if err != nil {
		return "", err
	}
	missing := map[string]string{}
	for _, name := range names {
		if _, ok := packages[name]; !ok {
			return "", fmt.Errorf("there is no program %q", name)
		}
		if !built.names[name] {
			missing[name] = module + packages[name]
		}
	}
	if len(missing) > 0 {
		err = link(ctx, common, built.folder, missing)
	}
	for name := range missing {
		built.names[name] = err == nil
	}
	return built.folder, err
}

// open returns the folder that all processes build into, and makes that of this process.
func open() (common string, err error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	common = filepath.Join(root, ".cache", "programs")
	if built.folder != "" {
		return common, nil
	}
	folder := filepath.Join(common, strconv.Itoa(os.Getpid()))
	err = errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)) //nolint:gosec // as of any program
	if err != nil {
		return "", err
	}
	built.folder, built.names = folder, map[string]bool{}
	return common, nil
}

// link builds programs into the common folder, and links them into that of this process.
func link(ctx context.Context, common, folder string, missing map[string]string) error {
	unlock, err := lock(filepath.Join(common, "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if err := sweep(common); err != nil {
		return err
	}
	var all []string
	for _, path := range missing {
		all = append(all, path)
	}
	if err := build(ctx, common, all...); err != nil {
		return err
	}
	for name := range missing {
		if err := os.Link(filepath.Join(common, name), filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return nil
}

// lock waits until no other process holds the lock of a file, and no other call in this one.
func lock(path string) (unlock func(), err error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return func() { _ = file.Close() }, nil // which ends the lock
}

// sweep removes the links of processes that have ended.
func sweep(common string) error {
	entries, err := os.ReadDir(common)
	if err != nil {
		return err
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(common, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// MustPrograms is Programs for a test.
func MustPrograms(tb testing.TB, names ...string) string {
	tb.Helper()
	folder, err := Programs(tb.Context(), names...)
	if err != nil {
		tb.Fatal(err)
	}
	return folder
}

// Main is TestMain for tests that all start programs: folder receives that of the programs.
func Main(m *testing.M, folder *string, names ...string) {
	var err error
	if *folder, err = Programs(context.Background(), names...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// build is the only place in which programs are built. It uses the same flags as the Makefile:
// with other flags every package would compile once more.
func build(ctx context.Context, folder string, args ...string) error {
	args = append([]string{"build", "-trimpath", "-o", folder + string(os.PathSeparator)}, args...)
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // by tests alone
	cmd.Env = append(cmd.Environ(), "GOGC=400")    // as in .ci/test: linking then costs half
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
