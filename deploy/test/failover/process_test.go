package failover_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// processes are those that work in a folder: Patroni, all of its PostgreSQL, and what either has started.
func processes(dir string) []int {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd") // the pattern is right
	var out []int
	for _, link := range links {
		at, err := os.Readlink(link)
		if err != nil || at != dir && !strings.HasPrefix(at, dir+"/") {
			continue // it has ended, or is another's
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link))); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// signal sends a signal to all that work in a folder, and to those that they start meanwhile.
func signal(dir string, s syscall.Signal) {
	told := map[int]bool{}
	for more := true; more; {
		more = false
		for _, pid := range processes(dir) {
			if !told[pid] {
				told[pid], more = true, true
				_ = syscall.Kill(pid, s) // it may have ended
			}
		}
	}
}
