//go:build unix

package programtest_test

import (
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestInstall: concurrent callers get one folder, another version gets a separate folder, and a
// failed installation leaves nothing.
func TestInstall(t *testing.T) {
	t.Parallel()
	name := "installtest" + strconv.Itoa(os.Getpid())
	left := filepath.Join(programtest.MustRoot(t), ".cache", "sdk", "*"+name+"*")
	t.Cleanup(func() {
		paths, err := filepath.Glob(left)
		for _, path := range paths {
			err = os.RemoveAll(path)
		}
		if err != nil {
			t.Error(err)
		}
	})
	var runs atomic.Int32
	fill := func(text string) func(string) (programtest.Command, error) {
		return func(into string) (programtest.Command, error) {
			runs.Add(1)
			c := script(text)
			c.Dir = into
			return c, nil
		}
	}
	if _, err := programtest.Install(t.Context(), name, nil, fill("echo half >file; exit 1")); err == nil {
		t.Error("a command failed, and its folder was installed")
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(left), "*"+name+"-*")); err != nil || len(left) > 0 {
		t.Errorf("a failed installation left %v, %v", left, err)
	}
	runs.Store(0)
	var all sync.WaitGroup
	folders := make([]string, 4)
	for n := range folders {
		all.Go(func() {
			folders[n], _ = programtest.Install(t.Context(), name, nil, fill("sleep 0.1; echo whole >file"))
		})
	}
	all.Wait()
	for _, folder := range folders {
		if text, err := os.ReadFile(filepath.Join(folder, "file")); err != nil || string(text) != "whole\n" {
			t.Errorf("%s: got %q, %v", folder, text, err)
		}
	}
	if got := runs.Load(); got != 1 {
		t.Errorf("the command ran %d times, want 1", got)
	}
	if other := programtest.MustInstall(t, name, []byte("2"), fill("true")); other == folders[0] {
		t.Errorf("two versions are in %s", other)
	}
}
