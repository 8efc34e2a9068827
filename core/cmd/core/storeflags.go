package main

import (
	"errors"
	"flag"
	"os"

	"github.com/causeway-pay/causeway/core/internal/datadir"
	"github.com/causeway-pay/causeway/core/postgres"
	"github.com/causeway-pay/causeway/shared/secret"
)

// storeFlags locate the store of a command.
type storeFlags struct{ data, store string }

// addStoreFlags adds the flags that locate the store.
func addStoreFlags(f *flag.FlagSet) *storeFlags {
	p := &storeFlags{}
	f.StringVar(&p.data, "data", "./data", "")
	f.StringVar(&p.store, "store", "", "")
	return p
}

// config locates the store.
func (p *storeFlags) config() (cfg datadir.Config, err error) {
	cfg.Data = p.data
	if cfg.Database, err = postgres.Rotating(p.url); err != nil {
		return datadir.Config{}, err
	}
	cfg.VaultKEK, err = datadir.KEK(os.Getenv)
	return cfg, err
}

// url returns the URL of the store from the command line, or else from the environment.
func (p *storeFlags) url() (secret.String, error) {
	if p.store != "" {
		return secret.New(p.store), nil
	}
	return postgres.URL(os.Getenv)
}

// errServer reports that a PostgreSQL store cannot be copied as a folder.
var errServer = errors.New("backup and restore need a data folder. Back up a PostgreSQL store with the tools of the server, such as pg_basebackup and its " +
	"write-ahead log, and keep the key-encryption key separately: without it the rows cannot be decrypted")

// folder locates the data folder of a command that copies it.
func (p *storeFlags) folder() (cfg datadir.Config, err error) {
	url, err := p.url()
	if err == nil && !url.IsZero() {
		err = errServer
	}
	cfg.Data = p.data
	return cfg, err
}
