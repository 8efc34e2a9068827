package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/procfs"
)

// busy is the share of the machine from which other processes disturb the numbers.
const busy = 0.05

// usage is the work of the processors up to a moment.
type usage struct {
	known        bool
	worked, idle float64       // seconds, of all processes together
	own          time.Duration // of this process and its programs that have ended
}

// readUsage returns an unknown usage where the kernel has no numbers.
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
	return usage{
		known: true, own: ownTime(), idle: c.Idle + c.Iowait,
		worked: c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal,
	}
}

// others returns the share of the machine that other processes used between two moments. ok is
// false if it is unknown.
func others(from, to usage) (share float64, ok bool) {
	worked := to.worked - from.worked
	all := worked + to.idle - from.idle
	if !from.known || !to.known || all <= 0 {
		return 0, false
	}
	return max(0, worked-(to.own-from.own).Seconds()) / all, true
}

// lookAround warns if other processes use the machine, and returns the usage to count from.
func (b *Bench) lookAround(ctx context.Context) (usage, error) {
	first := readUsage()
	select {
	case <-ctx.Done():
		return usage{}, ctx.Err()
	case <-time.After(time.Second):
	}
	second := readUsage()
	if share, ok := others(first, second); ok && share > busy {
		b.say("other processes use %.0f%% of the machine: better repeat when it is quiet", 100*share)
	}
	return second, nil
}

// company describes the load by other processes since from.
func (b *Bench) company(from usage) string {
	to := readUsage()
	to.own += b.servers
	share, ok := others(from, to)
	switch {
	case !ok:
		return "the load by other processes is unknown on this system"
	case share > busy:
		const many = "other processes used %.0f%% of the machine: TOO MUCH for numbers to keep, repeat when it is quiet"
		return fmt.Sprintf(many, 100*share)
	}
	return fmt.Sprintf("other processes used %.0f%% of the machine", 100*share)
}
