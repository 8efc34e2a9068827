package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/pgurl"
	"github.com/causeway-pay/causeway/shared/turns"
)

// openPools opens the connections of all kinds of work.
func (e *engine) openPools(ctx context.Context, text string) error {
	s, err := parse(text, e.current)
	if err != nil {
		return err
	}
	e.patience = s.patience
	if e.write, err = s.open(ctx, poolSize{connections: writers}, writing); err != nil {
		return err
	}
	e.turns = turns.New(turnBounds(int(e.write.Stat().MaxConns()), e.patience))
	size := poolSize{connections: backgroundWriters, fixed: true}
	if e.background, err = s.open(ctx, size, writing); err != nil {
		return err
	}
	size.connections = members
	if e.member, err = s.open(ctx, size, writing); err != nil {
		return err
	}
	e.read = map[store.Purpose]*reads{}
	for _, p := range store.Purposes() {
		if e.read[p], err = s.openReads(ctx, p); err != nil {
			return err
		}
	}
	e.batch, err = s.open(ctx, poolSize{connections: batchConnections}, batchSettings)
	return err
}

func (e *engine) closePools() {
	for _, of := range e.read {
		if of != nil {
			of.pool.Close()
		}
	}
	for _, pool := range []*pgxpool.Pool{e.batch, e.write, e.background, e.member} {
		if pool != nil {
			pool.Close()
		}
	}
}

// source is the parsed URL of a database.
type source struct {
	config   *pgxpool.Config
	sized    bool // the URL has the number of connections of a pool
	patience time.Duration
}

// parse parses a URL or a list of key=value pairs. current is that of OpenRotating. Errors have no
// cause, which can contain the password.
func parse(text string, current func() (string, error)) (*source, error) {
	config, err := pgxpool.ParseConfig(text)
	given, errGiven := pgx.ParseConfig(text) // which keeps the parameters of pools
	if err != nil || errGiven != nil {
		return nil, errors.New("store: the database URL is invalid: want postgres://user:password@host:port/database")
	}
	_, sized := given.RuntimeParams["pool_max_conns"]
	s := &source{config: config, sized: sized, patience: defaultPatience}
	conn := config.ConnConfig
	if own, ok := conn.RuntimeParams["patience"]; ok {
		if s.patience, err = time.ParseDuration(own); err != nil || s.patience <= 0 {
			return nil, fmt.Errorf(`database URL: invalid patience %q: want a duration such as "5s"`, own)
		}
		delete(conn.RuntimeParams, "patience")
	}
	if conn.ValidateConnect == nil { // several hosts can include standbys
		conn.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if conn.ConnectTimeout == 0 || conn.ConnectTimeout > s.patience {
		conn.ConnectTimeout = s.patience * 5 / 9 // leaves time to try a second host
	}
	conn.OnNotice = keepWarning
	conn.DialFunc = pgurl.Lines(conn.DialFunc, false)
	conn.RuntimeParams["client_encoding"] = "UTF8" // overrides the URL, the role and the environment
	config.AfterConnect = pgurl.Durable(lost)
	if current != nil {
		config.BeforeConnect = pgurl.Rotating(current)
	}
	return s, nil
}

// poolSize is the highest number of connections. The URL cannot raise a fixed one.
type poolSize struct {
	connections int32
	fixed       bool
}

// open opens a pool of connections. bounds are timeouts of the server: the URL can set others.
func (s *source) open(ctx context.Context, size poolSize, bounds map[string]string) (*pgxpool.Pool, error) {
	config := s.config.Copy()
	if !s.sized || size.fixed && config.MaxConns > size.connections {
		config.MaxConns = size.connections
	}
	params := config.ConnConfig.RuntimeParams
	for _, defaults := range []map[string]string{setting, bounds} {
		for name, value := range defaults {
			if _, given := params[name]; !given {
				params[name] = value
			}
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("store: %w", explain(err))
	}
	return pool, nil
}
