package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/shared/gc"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/telemetry/export"
)

// drain is how long a stopping server waits for requests under way.
const drain = 10 * time.Second

func (m *Main) serve(ctx context.Context, args []string) (err error) {
	f, at := m.flags("serve")
	listen := f.String("listen", "127.0.0.1:8080", "address")
	catalogue := f.String("simulator", "", "the simulator's catalogue")
	limit := f.Int("rate-limit", core.DefaultRateLimit, "requests a second for each API key, 0 for no limit")
	admin := f.String("admin", "", "address of the operators' port")
	before := f.Duration("notice", 0, "how long to go on serving at the end, with health red, until nobody sends requests here any more")
	keep := f.Int("keep-events", 0, "for how many days events are kept, 0 for good")
	keepPersonal := f.Int("keep-personal-data", 0, "for how many days personal data of payments is kept, 0 for good")
	keepCustomers := f.Int("keep-customers", 0, "after how many days inactive customers are deleted, 0 for never")
	keepAudit := f.Int("keep-audit", 0, "for how many days audit records are kept, 0 for good")
	private := f.Bool("webhooks-allow-private", false, "deliver webhooks to this machine and to private networks too")
	if _, err := m.parse(f, args, 0); err != nil {
		return err
	}
	if *limit < 0 {
		return m.misused(fmt.Sprintf("--rate-limit %d is negative", *limit))
	}
	if *before < 0 {
		return m.misused(fmt.Sprintf("--notice %s is negative", *before))
	}
	kept, err := keepDays("--keep-events", *keep, core.LeastKeepEvents)
	if err != nil {
		return m.misused(err.Error())
	}
	keptPersonal, err := keepDays("--keep-personal-data", *keepPersonal, core.LeastKeepPersonal)
	if err != nil {
		return m.misused(err.Error())
	}
	keptCustomers, err := keepDays("--keep-customers", *keepCustomers, core.LeastKeepPersonal)
	if err != nil {
		return m.misused(err.Error())
	}
	keptAudit, err := keepDays("--keep-audit", *keepAudit, core.LeastKeepAudit)
	if err != nil {
		return m.misused(err.Error())
	}
	if *limit == 0 {
		*limit = -1 // which is how core says no limit
	}
	cfg, err := at.config()
	if err != nil {
		return err
	}
	token, err := core.FilterToken(os.Getenv)
	if err != nil {
		return err
	}
	filter, err := core.FilterSecret(os.Getenv)
	if err != nil {
		return err
	}
	hop, err := httpx.HopSecret(os.Getenv)
	if err != nil {
		return err
	}
	relax(cfg)
	log := slog.New(slog.NewJSONHandler(m.Stderr, nil))
	traces, err := export.Open(ctx, export.Config{Getenv: os.Getenv, Service: "core", Log: log, Console: m.Stderr})
	if err != nil {
		return err
	}
	defer traces.Close(ctx)
	cfg.Simulator, cfg.Log, cfg.RateLimit, cfg.WebhooksAllowPrivate, cfg.Tracer = *catalogue, log, *limit, *private, traces.Tracer("core")
	cfg.FilterToken, cfg.FilterSecret, cfg.HopSecret, cfg.KeepEvents, cfg.KeepAudit, cfg.KeepPersonal = token, filter, hop, kept, keptAudit, keptPersonal
	cfg.KeepCustomers = keptCustomers
	c, err := core.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	notice := &httpx.Notice{For: *before, Health: []string{"/v1/health"}}
	server := httpx.NewServer(httpx.Options{Handler: c.Handler(), Log: log, Drain: drain, Notice: notice})
	addr, err := server.Start(*listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", *listen, err)
	}
	if *admin != "" {
		port, err := serveAdmin(*admin, c, notice, log)
		if err != nil {
			return errors.Join(err, server.Stop(ctx))
		}
		defer func() { err = errors.Join(err, port.Stop(context.WithoutCancel(ctx))) }()
	}
	log.InfoContext(ctx, "serving", slog.String("address", addr.String()))
	<-ctx.Done()
	notice.Give(context.WithoutCancel(ctx))
	return server.Stop(context.WithoutCancel(ctx))
}

// mostDays are a hundred years: many more would be so long that they are counted as a few.
const mostDays = 36525

// keepDays is a flag that counts days, for which 0 keeps for good.
func keepDays(name string, days int, shortest time.Duration) (time.Duration, error) {
	const day = 24 * time.Hour
	if least := int(shortest / day); days != 0 && (days < least || days > mostDays) {
		return 0, fmt.Errorf("%s %d: %d days at least, %d at most, or 0 for good", name, days, least, mostDays)
	}
	return time.Duration(days) * day, nil
}

// serveAdmin starts the operators' port.
func serveAdmin(addr string, c *core.Core, notice *httpx.Notice, log *slog.Logger) (*httpx.Server, error) {
	port := httpx.NewServer(httpx.Options{Handler: c.Operations(), Log: log, Drain: drain, Notice: notice})
	if _, err := port.Start(addr); err != nil {
		return nil, fmt.Errorf("--admin %s: %w", addr, err)
	}
	return port, nil
}

func (m *Main) migrate(ctx context.Context, args []string) error {
	f, at := m.flags("migrate")
	if _, err := m.parse(f, args, 0); err != nil {
		return err
	}
	cfg, err := at.config()
	if err != nil {
		return err
	}
	return core.Migrate(ctx, cfg)
}

// relax has garbage collected less often: by far where the store is in other processes.
func relax(cfg core.Config) {
	if cfg.Database == nil {
		gc.Relax(os.Getenv)
		return
	}
	gc.RelaxStateless(os.Getenv)
}
