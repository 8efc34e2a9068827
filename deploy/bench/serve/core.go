package serve

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"os"
	"path/filepath"
	"strconv"
)

// Core is core on its own store. It can be started several times, one after the other.
type Core struct {
	Key      string // a secret test key
	programs *Programs
	env      []string
	server   *Postgres // nil for a store in a folder
	store    string    // the name of the database, or the path of the folder
}

// Core creates a database with core's store, a merchant and a key.
func (p *Programs) Core(ctx context.Context, s *Postgres) (*Core, error) {
	s.made++
	c := &Core{programs: p, server: s, store: "core" + strconv.Itoa(s.made)}
	c.env = []string{kek(), "CAUSEWAY_STORE=" + s.URL(c.store, nil)}
	if _, err := s.SQL(ctx, "postgres", "CREATE DATABASE "+c.store); err != nil {
		return nil, err
	}
	return c, c.enroll(ctx)
}

// FolderCore creates a data folder with core's store, a merchant and a key.
func (p *Programs) FolderCore(ctx context.Context, data string) (*Core, error) {
	c := &Core{programs: p, env: []string{kek()}, store: data}
	return c, c.enroll(ctx)
}

// kek returns the setting of a fresh key-encryption key.
func kek() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	return "CAUSEWAY_VAULT_KEK=" + base64.StdEncoding.EncodeToString(key)
}

func (c *Core) enroll(ctx context.Context) error {
	keys, err := c.Enroll(ctx, "test")
	if err == nil {
		c.Key = keys[0]
	}
	return err
}

// Enroll creates a merchant, and returns a secret key for each of the modes.
func (c *Core) Enroll(ctx context.Context, modes ...string) (keys []string, err error) {
	path := c.programs.path("core")
	merchant, err := output(ctx, c.env, path, append([]string{"merchants", "create", "Bench"}, c.folder()...)...)
	if err != nil {
		return nil, err
	}
	for _, mode := range modes {
		args := append([]string{"keys", "create", "--merchant", merchant, "--mode", mode}, c.folder()...)
		key, err := output(ctx, c.env, path, args...)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// folder returns the flags that name the store, unless the environment does.
func (c *Core) folder() []string {
	if c.server != nil {
		return nil
	}
	return []string{"--data", c.store}
}

// Start starts the core, and returns when it listens.
func (c *Core) Start(ctx context.Context) (*Process, error) { return c.StartWith(ctx, nil) }

// StartWith is Start with more environment and flags.
func (c *Core) StartWith(ctx context.Context, env []string, flags ...string) (*Process, error) {
	args := append([]string{"serve", "--rate-limit", "0"}, c.folder()...)
	if c.server != nil {
		args = append(args, "--simulator-journal", filepath.Join(c.programs.logs, c.store+".journal"))
	}
	args = append(append(args, flags...), "--listen")
	return c.programs.listen(ctx, append(env, c.env...), c.programs.path("core"), args...)
}

// SQL runs statements in its database, each in its own transaction, and returns their output.
func (c *Core) SQL(ctx context.Context, statements ...string) (string, error) {
	return c.server.SQL(ctx, c.store, statements...)
}

// Drop removes the store of the core, which has ended.
func (c *Core) Drop(ctx context.Context) error {
	if c.server == nil {
		return os.RemoveAll(c.store)
	}
	_, err := c.server.SQL(ctx, "postgres", "DROP DATABASE "+c.store)
	return err
}
