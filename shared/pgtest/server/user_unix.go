//go:build unix

package server

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// serverUser is the user that runs the server if the test runs as root.
const serverUser = "postgres"

func ids() (uid, gid int, err error) {
	u, err := user.Lookup(serverUser)
	if err != nil {
		return 0, 0, err
	}
	if uid, err = strconv.Atoi(u.Uid); err == nil {
		gid, err = strconv.Atoi(u.Gid)
	}
	return uid, gid, err
}

// Give gives the folder to the server's user.
func Give(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := ids()
	if err != nil {
		return err
	}
	return os.Chown(dir, uid, gid)
}

// AsServer makes a command run as the server's user, which is not root, and keeps its other
// attributes.
func AsServer(cmd *exec.Cmd) {
	if os.Geteuid() != 0 {
		return
	}
	if uid, gid, err := ids(); err == nil {
		as := &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)} //nolint:gosec // ids of a user
		if cmd.SysProcAttr == nil {
			cmd.SysProcAttr = &syscall.SysProcAttr{}
		}
		cmd.SysProcAttr.Credential = as
	}
}
