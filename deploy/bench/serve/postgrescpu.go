package serve

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// CPU is the processor time that the server has used, its ended processes included. Only Linux says it.
func (p *Postgres) CPU() (time.Duration, error) {
	text, err := os.ReadFile(filepath.Join(p.Folder(), "data", "postmaster.pid"))
	if err != nil {
		return 0, fmt.Errorf("the server's process: %w", err)
	}
	first, _, _ := bytes.Cut(text, []byte{'\n'})
	parent := string(first)
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, fmt.Errorf("processes: %w", err)
	}
	var sum int64
	for _, path := range paths {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// Behind the name in brackets: state, parent, …; utime, stime and those of children waited for are the 12th to the 15th.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 15 {
			continue
		}
		own := filepath.Base(filepath.Dir(path)) == parent
		if !own && fields[1] != parent {
			continue
		}
		for _, field := range fields[11:15] {
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("processor time: %w", err)
			}
			sum += n
		}
	}
	return time.Duration(sum) * time.Second / ticks, nil
}
