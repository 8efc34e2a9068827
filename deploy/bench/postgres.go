package bench

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/shared/pgtest/server"
)

// settings are the PostgreSQL settings of all measurements. fsync, synchronous_commit and
// full_page_writes stay on.
var settings = []string{
	"max_connections=200", "shared_buffers=512MB", "max_wal_size=8GB", "checkpoint_timeout=15min", "wal_compression=lz4",
}

// bank is the database of pgbench. bankClients is the number of clients of P4. branches is the size
// of pgbench's tables: more branches than clients, so that no client waits for a row.
const (
	bank                  = "pgbench"
	bankClients, branches = 32, 64
)

// onServer measures P4: payments per second of core on PostgreSQL, against pgbench's transactions
// on the same server.
func onServer(b *Bench) {
	p := b.postgres()
	must(p.sql("postgres", "CREATE DATABASE "+bank))
	must(p.tool("pgbench", "-i", "-q", "-s", strconv.Itoa(branches), bank))
	got := b.interleave(
		side{"core, PostgreSQL", func() sample { return p.core().pay(bankClients) }},
		side{"pgbench TPC-B", p.runBank},
	)
	b.ratesRow("P4", "POST /v1/transactions, core on PostgreSQL, 32 clients ÷ pgbench TPC-B-like", 1.1, got[0], got[1])
}

// postgres is a running PostgreSQL server.
type postgres struct {
	*server.Server
	b    *Bench
	made int // databases
}

// postgres starts a server until the end of the scope. Its folder is in the system's folder for
// temporary files, where its user can reach it.
func (b *Bench) postgres() *postgres {
	p := &postgres{Server: must(server.Start(b.ctx, settings...)), b: b}
	b.Cleanup(func() { check(p.Stop()) })
	b.Cleanup(func() { b.servers += p.cpu() })
	b.Logf("PostgreSQL with %s, fsync and synchronous_commit on", strings.Join(settings, ", "))
	return p
}

// tool runs a client program of PostgreSQL and returns its output.
func (p *postgres) tool(name string, args ...string) (string, error) {
	cmd := exec.CommandContext(p.b.ctx, must(server.Find(name)), args...) //nolint:gosec // the arguments are our own
	cmd.Env = append(os.Environ(), "PGHOST="+p.Folder(), "PGUSER=postgres")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// sql runs statements, each in its own transaction, and returns their output.
func (p *postgres) sql(database string, statements ...string) (string, error) {
	args := []string{"-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database}
	for _, s := range statements {
		args = append(args, "-c", s)
	}
	return p.tool("psql", args...)
}

// runBank runs TPC-B-like transactions after a checkpoint, and returns their rate per second and
// their mean time.
func (p *postgres) runBank() sample {
	must(p.sql(bank, "CHECKPOINT"))
	seconds := strconv.Itoa(max(1, int(p.b.Each.Seconds()+0.5))) // pgbench accepts whole seconds only
	out := must(p.tool("pgbench", "-n", "-c", strconv.Itoa(bankClients), "-j", "2", "-T", seconds, bank))
	for line := range strings.Lines(out) {
		var rate float64
		if _, err := fmt.Sscanf(line, "tps = %g", &rate); err == nil {
			return sample{rate: rate, p50: time.Duration(bankClients / rate * float64(time.Second))}
		}
	}
	p.b.Fatalf("pgbench printed no rate: %s", out)
	return sample{}
}

// cpu implements processor. It counts all processes of the server, the ended ones included.
func (p *postgres) cpu() (sum time.Duration) {
	for _, process := range must(p.Processes()) {
		if s, err := process.Stat(); err == nil { // else it has ended, and the first process counts it
			used := int(s.UTime+s.STime) + s.CUTime + s.CSTime
			sum += time.Duration(used) * time.Second / ticks
		}
	}
	return sum
}
