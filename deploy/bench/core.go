package bench

import (
	"context"
	"path/filepath"
	"strconv"

	"github.com/causeway-pay/causeway/deploy/bench/fill"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// core is core on its own store. It can be started several times, one after the other.
type core struct {
	b      *Bench
	key    string // a secret test key
	env    []string
	server *postgres // nil for a store in a folder
	store  string    // the name of the database, or the path of the folder
}

// onBoth measures on SQLite and on PostgreSQL. create returns a core with an empty store, which the
// end of the scope removes.
func (b *Bench) onBoth(measure func(engine string, create func() *core)) {
	measure("SQLite", func() *core { return b.enrolled(&core{store: b.folder("core")}) })
	b.within(func() { measure("PostgreSQL", b.postgres().core) })
}

// core creates a database with core's store, a merchant and a key.
func (p *postgres) core() *core {
	p.made++
	c := &core{server: p, store: "core" + strconv.Itoa(p.made)}
	c.env = []string{"CAUSEWAY_STORE=" + p.URL(c.store, nil)}
	must(p.sql("postgres", "CREATE DATABASE "+c.store))
	p.b.Cleanup(func() { must(p.sql("postgres", "DROP DATABASE "+c.store)) })
	return p.b.enrolled(c)
}

// enrolled creates the merchant and the key of a core.
func (b *Bench) enrolled(c *core) *core {
	c.b, c.env = b, append(c.env, "CAUSEWAY_VAULT_KEK="+programtest.Secret())
	c.key = c.enroll("test")[0]
	return c
}

// enroll creates a merchant, and returns a secret key for each of the modes.
func (c *core) enroll(modes ...string) (keys []string) {
	merchant := c.run("merchants", "create", "Bench")
	for _, mode := range modes {
		keys = append(keys, c.run("keys", "create", "--merchant", merchant, "--mode", mode))
	}
	return keys
}

// run runs a command of core to its end, and returns its output.
func (c *core) run(args ...string) string {
	args = append(args, c.folder()...)
	return programtest.MustOutput(c.b, programtest.Command{Path: c.b.program("core"), Args: args, Env: c.env})
}

// folder returns the flags that name the store, unless the environment does.
func (c *core) folder() []string {
	if c.server != nil {
		return nil
	}
	return []string{"--data", c.store}
}

// start starts the core with more environment and flags, and returns when it listens.
func (c *core) start(env []string, flags ...string) *process {
	args := append([]string{"serve", "--rate-limit", "0"}, c.folder()...)
	if c.server != nil {
		args = append(args, "--simulator-journal", filepath.Join(c.b.dir, c.store+".journal"))
	}
	return c.b.listen(append(env, c.env...), c.b.program("core"), append(append(args, flags...), "--listen")...)
}

// pay posts payments from n clients to the core, after a checkpoint: no side writes the pages of
// another one. The processor time includes the core and PostgreSQL.
func (c *core) pay(n int) sample {
	running := c.start(nil)
	all := []processor{running}
	if c.server != nil {
		must(c.server.sql(c.store, "CHECKPOINT"))
		all = append(all, c.server)
	}
	return c.b.load(c.b.payments(running.addr, c.key, n), all...)
}

// fill makes the only payment of the store, and then copies of it.
func (c *core) fill(copies func(rows int) fill.Copies) {
	c.b.within(func() { c.b.payOnce(c.start(nil).addr, c.key, 1) })
	if c.server == nil {
		check(fill.SQLite(c.b.ctx, filepath.Join(c.store, "causeway.db"), copies(fill.SQLiteRows)))
		return
	}
	run := func(_ context.Context, statements ...string) (string, error) {
		return c.server.sql(c.store, statements...)
	}
	check(fill.Postgres(c.b.ctx, run, copies(fill.PostgresRows)))
}
