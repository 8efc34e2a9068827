package programtest

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// withTest makes a program die with the test that started it, however the test ends.
func withTest() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// awaitStop waits until a child process is stopped or has ended. It leaves the exit status to
// os/exec, and the stop to the next call.
func awaitStop(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
