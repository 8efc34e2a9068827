package main

import (
	"errors"
	"flag"
	"os"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/postgres"
	"github.com/causeway-pay/causeway/shared/secret"
)

// place is where a command finds the store.
type place struct{ data, store string }

// placeFlags adds the flags that name one.
func placeFlags(f *flag.FlagSet) *place {
	p := &place{}
	f.StringVar(&p.data, "data", "./data", "data folder")
	f.StringVar(&p.store, "store", "", "URL of the store")
	return p
}

// config is what core needs to open the store.
func (p *place) config() (core.Config, error) {
	cfg := core.Config{Data: p.data}
	var err error
	if cfg.Database, err = postgres.Rotating(p.url); err != nil {
		return core.Config{}, err
	}
	cfg.VaultKEK, err = core.VaultKEK(os.Getenv)
	return cfg, err
}

// url is that of the store, which the command line gives or the environment.
func (p *place) url() (secret.String, error) {
	if p.store != "" {
		return secret.New(p.store), nil
	}
	return postgres.URL(os.Getenv)
}

// errServer refuses to copy a server as a folder.
var errServer = errors.New("backup and restore are for a data folder. Back up a PostgreSQL store by its own means, such as pg_basebackup and its log " +
	"of writes, and keep the key-encryption key apart from it: the rows are worth nothing without it")

// folder is the configuration of a command that copies the data folder.
func (p *place) folder() (core.Config, error) {
	url, err := p.url()
	if err == nil && !url.IsZero() {
		err = errServer
	}
	return core.Config{Data: p.data}, err
}
