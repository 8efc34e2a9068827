package serve

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/shared/pgtest/server"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// Settings are what the PostgreSQL server that is measured is given, for whoever uses it. All else is as it comes: fsync, synchronous_commit and
// full_page_writes are on.
func Settings() []string {
	return []string{"max_connections=200", "shared_buffers=512MB", "max_wal_size=8GB", "checkpoint_timeout=15min", "wal_compression=lz4"}
}

// Postgres is a running PostgreSQL server.
type Postgres struct {
	*server.Server
	made int // databases
}

// StartPostgres starts a server, with more settings or others. Its folder is in the system's folder for temporary files, where its user can reach it.
func StartPostgres(ctx context.Context, more ...string) (*Postgres, error) {
	s, err := server.Start(ctx, append(Settings(), more...)...)
	if err != nil {
		return nil, err
	}
	return &Postgres{Server: s}, nil
}

// tool runs a client program of PostgreSQL and returns what it prints.
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

// SQL runs statements, each by itself, and returns what they print.
func (p *Postgres) SQL(ctx context.Context, database string, statements ...string) (string, error) {
	args := []string{"-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database}
	for _, s := range statements {
		args = append(args, "-c", s)
	}
	out, err := p.tool(ctx, "psql", args...)
	return strings.TrimSpace(out), err
}

// NewDatabase makes an empty database and returns its name.
func (p *Postgres) NewDatabase(ctx context.Context) (string, error) {
	p.made++
	name := "core" + strconv.Itoa(p.made)
	_, err := p.SQL(ctx, "postgres", "CREATE DATABASE "+name)
	return name, err
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

// RunBank has as many clients make TPC-B-like transactions, and returns how many they made a second, and the mean time of one.
func (p *Postgres) RunBank(ctx context.Context, clients int, d time.Duration) (rate float64, mean time.Duration, err error) {
	seconds := max(1, int(d.Seconds()+0.5)) // pgbench knows whole ones only
	out, err := p.tool(ctx, "pgbench", "-n", "-c", strconv.Itoa(clients), "-j", "2", "-T", strconv.Itoa(seconds), Bank)
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(out) {
		if _, err := fmt.Sscanf(line, "tps = %g", &rate); err == nil {
			return rate, time.Duration(float64(clients) / rate * float64(time.Second)), nil
		}
	}
	return 0, 0, errors.New("pgbench told no rate: " + out)
}

// Cores is core on one database of a server, as many of it as are wanted.
type Cores struct {
	program, url string
	env          []string
	Key          string // a secret test key
}

// MakeCores makes core's store in a database, with a merchant and a key. more is added to the URL that core is given.
func MakeCores(ctx context.Context, program string, p *Postgres, database string, more url.Values) (*Cores, error) {
	kek := make([]byte, 32)
	_, _ = rand.Read(kek) // it never fails
	c := &Cores{program: program, url: p.URL(database, more), env: []string{"CAUSEWAY_VAULT_KEK=" + base64.StdEncoding.EncodeToString(kek)}}
	merchant, err := c.command(ctx, "merchants", "create", "Bench", "--store", c.url)
	if err == nil {
		c.Key, err = c.command(ctx, "keys", "create", "--merchant", merchant, "--store", c.url)
	}
	return c, err
}

func (c *Cores) command(ctx context.Context, args ...string) (string, error) {
	return output(ctx, c.env, c.program, args...)
}

// Start starts one. It may take a moment until it accepts connections.
func (c *Cores) Start(ctx context.Context, logFile string) (*Listening, error) {
	addr, err := programtest.Port(ctx)
	if err != nil {
		return nil, err
	}
	p, err := startWith(ctx, c.env, logFile, c.program, "serve", "--store", c.url, "--rate-limit", "0", "--listen", addr)
	if err != nil {
		return nil, err
	}
	return &Listening{Process: p, Addr: addr}, nil
}
