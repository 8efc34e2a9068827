package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/shared/pgtest/server"
)

// Settings returns the PostgreSQL settings of all measurements. fsync, synchronous_commit and
// full_page_writes stay on.
func Settings() []string {
	return []string{
		"max_connections=200", "shared_buffers=512MB", "max_wal_size=8GB", "checkpoint_timeout=15min", "wal_compression=lz4",
	}
}

// Postgres is a running PostgreSQL server.
type Postgres struct {
	*server.Server
	made int // databases
}

// StartPostgres starts a server with Settings. Its folder is in the system's folder for temporary
// files, where its user can reach it.
func StartPostgres(ctx context.Context) (*Postgres, error) {
	s, err := server.Start(ctx, Settings()...)
	if err != nil {
		return nil, err
	}
	return &Postgres{Server: s}, nil
}

// tool runs a client program of PostgreSQL and returns its output.
func (p *Postgres) tool(ctx context.Context, name string, args ...string) (string, error) {
	path, err := server.Find(name)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // the arguments are our own
	cmd.Env = append(os.Environ(), "PGHOST="+p.Folder(), "PGUSER=postgres")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return string(out), nil
}

// SQL runs statements, each in its own transaction, and returns their output.
func (p *Postgres) SQL(ctx context.Context, database string, statements ...string) (string, error) {
	args := []string{"-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database}
	for _, s := range statements {
		args = append(args, "-c", s)
	}
	out, err := p.tool(ctx, "psql", args...)
	return strings.TrimSpace(out), err
}

// Bank is the database of pgbench.
const Bank = "pgbench"

// FillBank makes the tables of pgbench's TPC-B, with as many branches.
func (p *Postgres) FillBank(ctx context.Context, branches int) error {
	_, err := p.SQL(ctx, "postgres", "CREATE DATABASE "+Bank)
	if err == nil {
		_, err = p.tool(ctx, "pgbench", "-i", "-q", "-s", strconv.Itoa(branches), Bank)
	}
	return err
}

// RunBank runs TPC-B-like transactions of so many clients, and returns their rate per second and
// the mean time of a transaction.
func (p *Postgres) RunBank(
	ctx context.Context, clients int, d time.Duration,
) (rate float64, mean time.Duration, err error) {
	seconds := max(1, int(d.Seconds()+0.5)) // pgbench accepts whole seconds only
	out, err := p.tool(ctx, "pgbench", "-n", "-c", strconv.Itoa(clients), "-j", "2", "-T", strconv.Itoa(seconds), Bank)
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(out) {
		if _, err := fmt.Sscanf(line, "tps = %g", &rate); err == nil {
			return rate, time.Duration(float64(clients) / rate * float64(time.Second)), nil
		}
	}
	return 0, 0, errors.New("pgbench printed no rate: " + out)
}
