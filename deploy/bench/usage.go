package bench

import (
	"fmt"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// busy is the share of the machine from which other processes disturb the numbers.
const busy = 0.05

// usage is the work of the processors up to a moment.
type usage struct {
	worked, idle float64       // seconds, of all processes together; 0 if the kernel has no numbers
	own          time.Duration // of this process and its programs that have ended
}

func readUsage() usage {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return usage{}
	}
	stat, err := fs.Stat()
	if err != nil {
		return usage{}
	}
	c := stat.CPUTotal // its other fields are counted in these already
	u := usage{idle: c.Idle + c.Iowait, worked: c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal}
	for _, of := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if err := syscall.Getrusage(of, &r); err == nil { // it fails for no valid argument
			u.own += time.Duration(r.Utime.Nano() + r.Stime.Nano())
		}
	}
	return u
}

// others returns the share of the machine that other processes used between two moments. ok is
// false if it is unknown.
func others(from, to usage) (share float64, ok bool) {
	worked := to.worked - from.worked
	all := worked + to.idle - from.idle
	if from.idle == 0 || to.idle == 0 || all <= 0 {
		return 0, false
	}
	return max(0, worked-(to.own-from.own).Seconds()) / all, true
}

// otherLoad describes the load by other processes since from.
func (b *Bench) otherLoad(from usage) string {
	to := readUsage()
	to.own += b.servers
	share, ok := others(from, to)
	if !ok {
		return "the load by other processes is unknown on this system"
	}
	text := fmt.Sprintf("other processes used %.0f%% of the machine", 100*share)
	if share > busy {
		text += ": too much for valid numbers, so repeat the run on a quiet machine"
	}
	return text
}
