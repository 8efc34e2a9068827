package server

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/prometheus/procfs"
)

// Processes returns the server's processes, the first of them the parent of the others. It needs
// Linux.
func (s *Server) Processes() ([]procfs.Proc, error) {
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		return nil, fmt.Errorf("the server's process: %w", err)
	}
	first, _, _ := bytes.Cut(text, []byte{'\n'})
	parent, err := strconv.Atoi(string(first))
	if err != nil {
		return nil, fmt.Errorf("the server's process: %w", err)
	}
	out := []procfs.Proc{{PID: parent}}
	all, err := procfs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("processes: %w", err)
	}
	for _, p := range all {
		switch stat, err := p.Stat(); {
		case err != nil: // it has ended
		case p.PID == parent:
			out[0] = p
		case stat.PPID == parent:
			out = append(out, p)
		}
	}
	return out, nil
}
