//go:build unix && !linux

package programtest

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// withTest sets nothing: without Linux a program can outlive the test that started it.
func withTest() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// awaitStop waits until a child process is stopped or has ended.
func awaitStop(pid int) {
	for {
		ps := exec.CommandContext(context.Background(), "ps", "-o", "stat=", "-p", strconv.Itoa(pid)) //nolint:gosec // a number
		state, err := ps.Output()
		if err != nil || strings.HasPrefix(string(state), "T") || strings.HasPrefix(string(state), "Z") {
			return
		}
		<-time.After(time.Millisecond)
	}
}
