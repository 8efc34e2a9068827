//go:build unix

package envoytest

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// nobody is the user, and the group, that has no rights, on every Unix.
const nobody = 65534

// StartAsNobody is Start for an Envoy that may open only its configuration and files that every
// user may open. The tests must run as root.
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
	programtest.MustOutput(tb, programtest.Command{Path: "install", Args: []string{"-m", "0755", Install(tb), program}})
	programtest.MustOutput(tb, programtest.Command{Path: "install", Args: []string{"-m", "0644", config, own}})
	if err := os.Chown(dir, nobody, nobody); err != nil {
		tb.Fatal(err)
	}
	c := programtest.Command{Path: program, Dir: dir, Change: func(run *exec.Cmd) {
		run.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}}
	return launch(tb, c, dir, own, more)
}
