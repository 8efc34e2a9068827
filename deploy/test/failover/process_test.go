package failover_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// processes returns the processes whose working directory is below dir: Patroni, PostgreSQL, and
// their children.
func processes(dir string) []int {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd") // the pattern is valid
	var out []int
	for _, link := range links {
		at, err := os.Readlink(link)
		if err != nil || at != dir && !strings.HasPrefix(at, dir+"/") {
			continue // it has ended, or belongs to another user
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// signal sends a signal to all processes in a folder, and to the children that they start
// meanwhile.
func signal(dir string, s syscall.Signal) {
	signalled := map[int]bool{}
	for more := true; more; {
		more = false
		for _, pid := range processes(dir) {
			if !signalled[pid] {
				signalled[pid], more = true, true
				_ = syscall.Kill(pid, s) // it may have ended
			}
		}
	}
}
