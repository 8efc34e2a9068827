//go:build unix

package envoytest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// nobody is the user, and the group, that has no rights, on every Unix.
const nobody = 65534

// StartAsNobody is Start for an Envoy that may open nothing that is not everybody's, but for its
// configuration. The tests must run as root.
func StartAsNobody(tb testing.TB, config string, more ...string) *Envoy {
	tb.Helper()
	dir, err := os.MkdirTemp("", "envoy") //nolint:usetesting // the user without rights cannot read others
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	program, own := filepath.Join(dir, "envoy"), filepath.Join(dir, "config.yaml")
	if err := errors.Join(copyFile(Install(tb), program, 0o755), copyFile(config, own, 0o644),
		os.Chown(dir, nobody, nobody)); err != nil {
		tb.Fatal(err)
	}
	return launch(tb, program, dir, func(run *exec.Cmd) {
		run.Dir, run.SysProcAttr = dir, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}, own, more)
}

func copyFile(from, to string, mode os.FileMode) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // it was read
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
