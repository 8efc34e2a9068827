package serve

import (
	"fmt"
	"time"

	"github.com/prometheus/procfs"
)

// ticks is the number of units per second in which Linux counts processor time.
const ticks = 100

// Processor is a program with a processor time.
type Processor interface {
	// CPU returns the processor time that the program has used. It needs Linux.
	CPU() (time.Duration, error)
}

// CPU returns the processor time of several programs together.
func CPU(of ...Processor) (sum time.Duration, err error) {
	for _, p := range of {
		used, err := p.CPU()
		if err != nil {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}

// CPU implements Processor.
func (p *Process) CPU() (time.Duration, error) {
	proc, err := procfs.NewProc(p.PID())
	if err != nil {
		return 0, fmt.Errorf("processor time: %w", err)
	}
	stat, err := proc.Stat()
	return time.Duration(stat.UTime+stat.STime) * time.Second / ticks, err //nolint:gosec // no process is that old
}

// PeakMemory returns the highest resident memory of the process so far, in bytes. It needs Linux.
func (p *Process) PeakMemory() (uint64, error) {
	proc, err := procfs.NewProc(p.PID())
	if err != nil {
		return 0, fmt.Errorf("resident memory: %w", err)
	}
	status, err := proc.NewStatus()
	return status.VmHWM, err
}

// CPU implements Processor. It counts all processes of the server, the ended ones included.
func (p *Postgres) CPU() (sum time.Duration, err error) {
	processes, err := p.Processes()
	if err != nil {
		return 0, err
	}
	for _, process := range processes {
		if s, err := process.Stat(); err == nil { // else it has ended, and the first process counts it
			used := int(s.UTime+s.STime) + s.CUTime + s.CSTime
			sum += time.Duration(used) * time.Second / ticks
		}
	}
	return sum, nil
}
