package bench

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// busy is from what share of the machine on that others disturb the numbers.
	busy = 0.05
	// ticks is how many of its units the kernel counts a second, the same on every Linux machine.
	ticks = 100
)

// usage is what the processors have done up to a moment.
type usage struct {
	known        bool
	worked, idle int64         // ticks, of all processes together
	own          time.Duration // by this process and the programs it has started and that have ended
}

// readUsage gives an unknown usage where the kernel does not tell.
func readUsage() usage {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return usage{}
	}
	u := usage{known: true, own: ownTime()}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	for i, field := range fields[min(1, len(fields)):min(9, len(fields))] { // what follows is counted in these already
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return usage{}
		}
		if i == 3 || i == 4 { // idle, and idle while a disk works
			u.idle += n
		} else {
			u.worked += n
		}
	}
	return u
}

// others is the share of the machine that other processes used from one moment to another. ok is false when it is not known.
func others(from, to usage) (share float64, ok bool) {
	all := float64(to.worked-from.worked+to.idle-from.idle) / ticks
	if !from.known || !to.known || all <= 0 {
		return 0, false
	}
	return max(0, float64(to.worked-from.worked)/ticks-(to.own-from.own).Seconds()) / all, true
}

// lookAround warns when others use the machine, and returns the usage to count from.
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

// company says how much others used the machine since from.
func (b *Bench) company(from usage) string {
	to := readUsage()
	to.own += b.servers
	share, ok := others(from, to)
	switch {
	case !ok:
		return "how much other processes used the machine is not known here"
	case share > busy:
		return fmt.Sprintf("other processes used %.0f%% of the machine: TOO MUCH for numbers to keep, repeat when it is quiet", 100*share)
	}
	return fmt.Sprintf("other processes used %.0f%% of the machine", 100*share)
}
