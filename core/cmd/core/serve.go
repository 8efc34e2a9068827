package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/causeway-pay/causeway/core"
	"github.com/causeway-pay/causeway/core/internal/admin"
	"github.com/causeway-pay/causeway/core/internal/datadir"
	"github.com/causeway-pay/causeway/shared/gc"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/program"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen, admin                      string
	limit, merchantLimit, payerLimit   int
	declineLimit, payerDeclineLimit    int
	notice                             time.Duration
	events, personal, customers, audit int // days
}

func (m *Main) serve(ctx context.Context, args []string) error {
	var s serveFlags
	cfg := core.Config{Kinds: m.kinds}
	f, at := m.flags("serve")
	f.StringVar(&s.listen, "listen", "127.0.0.1:8080", "address")
	f.StringVar(&cfg.Simulator, "simulator", "", "the simulator's catalogue")
	f.StringVar(&cfg.SimulatorJournal, "simulator-journal", "", "the file in which the simulator records its effects")
	f.IntVar(&s.limit, "rate-limit", core.DefaultRateLimit, "requests a second for each API key, 0 for no limit")
	f.IntVar(&s.merchantLimit, "merchant-rate-limit", 0, "requests a second for all keys of a merchant, 0 for 4 times --rate-limit")
	f.IntVar(&s.payerLimit, "payer-rate-limit", 0,
		"requests a second for a client address with publishable keys, 0 for a tenth of --rate-limit")
	f.IntVar(&s.declineLimit, "decline-limit", core.DefaultDeclineLimit,
		"declined confirmations an hour for each publishable key, 0 for no limit")
	f.IntVar(&s.payerDeclineLimit, "payer-decline-limit", core.DefaultPayerDeclineLimit,
		"declined confirmations an hour for a client address with publishable keys, 0 for no limit")
	f.StringVar(&s.admin, "admin", "", "address of the operators' port")
	f.DurationVar(&s.notice, "notice", 0, "time for which core still serves after SIGTERM, with 503 for health")
	f.IntVar(&s.events, "keep-events", 0, "delete events after that many days, 0 for never")
	f.IntVar(&s.personal, "keep-personal-data", 0, "erase personal data of payments after that many days, 0 for never")
	f.IntVar(&s.customers, "keep-customers", 0, "delete inactive customers after that many days, 0 for never")
	f.IntVar(&s.audit, "keep-audit", 0, "delete audit records after that many days, 0 for never")
	f.BoolVar(&cfg.WebhooksAllowPrivate, "webhooks-allow-private", false,
		"deliver webhooks to this machine and to private networks too")
	if _, err := m.parse(f, args, 0); err != nil {
		return err
	}
	if err := s.limits(&cfg); err != nil {
		return m.misused(err.Error())
	}
	store, err := at.config()
	if err != nil {
		return err
	}
	cfg.Data, cfg.Database, cfg.VaultKEK = store.Data, store.Database, store.VaultKEK
	if err := readSecrets(&cfg); err != nil {
		return err
	}
	relax(cfg)
	return m.serveUntil(ctx, s, cfg)
}

// limits writes the rate limits and the periods into the configuration. Its errors are usage
// errors.
func (s serveFlags) limits(cfg *core.Config) error {
	if s.listen == "" {
		return errors.New("--listen: want host:port")
	}
	for _, l := range []struct {
		flag  string
		value int
	}{
		{"--rate-limit", s.limit},
		{"--merchant-rate-limit", s.merchantLimit},
		{"--payer-rate-limit", s.payerLimit},
		{"--decline-limit", s.declineLimit},
		{"--payer-decline-limit", s.payerDeclineLimit},
	} {
		if l.value < 0 {
			return fmt.Errorf("%s %d: want 0 or more", l.flag, l.value)
		}
	}
	cfg.MerchantRateLimit, cfg.PayerRateLimit = s.merchantLimit, s.payerLimit
	cfg.RateLimit, cfg.DeclineLimit, cfg.PayerDeclineLimit = s.limit, s.declineLimit, s.payerDeclineLimit
	for _, limit := range []*int{&cfg.RateLimit, &cfg.DeclineLimit, &cfg.PayerDeclineLimit} {
		if *limit == 0 {
			*limit = -1 // core's value for no limit
		}
	}
	if s.notice < 0 {
		return fmt.Errorf("--notice %s: want 0 or more", s.notice)
	}
	for _, k := range []struct {
		flag     string
		days     int
		shortest time.Duration
		into     *time.Duration
	}{
		{"--keep-events", s.events, core.LeastKeepEvents, &cfg.KeepEvents},
		{"--keep-personal-data", s.personal, core.LeastKeepPersonal, &cfg.KeepPersonal},
		{"--keep-customers", s.customers, core.LeastKeepPersonal, &cfg.KeepCustomers},
		{"--keep-audit", s.audit, core.LeastKeepAudit, &cfg.KeepAudit},
	} {
		var err error
		if *k.into, err = keepDays(k.flag, k.days, k.shortest); err != nil {
			return err
		}
	}
	return nil
}

// readSecrets reads the secrets that core shares with other programs from the environment.
func readSecrets(cfg *core.Config) (err error) {
	if cfg.FilterToken, err = datadir.FilterToken(os.Getenv); err != nil {
		return err
	}
	if cfg.FilterSecret, err = datadir.FilterSecret(os.Getenv); err != nil {
		return err
	}
	cfg.HopSecret, err = httpx.HopSecret(os.Getenv)
	return err
}

// serveUntil serves until ctx ends, and then completes the requests in progress.
func (m *Main) serveUntil(ctx context.Context, s serveFlags, cfg core.Config) (err error) {
	frame, err := program.Open(ctx, program.Config{
		Name: "core", Stderr: m.Stderr, Notice: &httpx.Notice{For: s.notice, Health: []string{"/v1/health"}},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, frame.Close(ctx)) }()
	cfg.Log, cfg.Tracer = frame.Log, frame.Traces.Tracer("core")
	if err := program.Available(ctx, program.Listener{Name: "--listen", Address: s.listen},
		program.Listener{Name: "--admin", Address: s.admin}); err != nil {
		return err
	}
	c, err := core.Open(ctx, cfg)
	if err != nil {
		return err
	}
	frame.OnClose(func(context.Context) error { return c.Close() })
	if cfg.VaultKEK.IsZero() {
		cfg.Log.WarnContext(ctx, withoutKEK)
	}
	listener := program.Listener{Name: "listen", Address: s.listen, Handler: c.Handler(), Hop: cfg.HopSecret}
	if err := frame.Listen(ctx, listener); err != nil {
		return fmt.Errorf("--listen %s: %w", s.listen, err)
	}
	// The operators' port opens last: once it responds, core accepts requests.
	if err := frame.Operators(ctx, s.admin, c.Operations(), nil); err != nil {
		return fmt.Errorf("--admin %s: %w", s.admin, err)
	}
	<-ctx.Done()
	return nil
}

// withoutKEK warns of a data folder that alone opens its card vault.
const withoutKEK = datadir.KEKVariable + " is not set: the key of the card vault lies in the data folder. " +
	"This is for development only"

// mostDays is a hundred years. Far more days would overflow a time.Duration.
const mostDays = 36525

// keepDays converts a flag in days. 0 keeps data without a limit.
func keepDays(name string, days int, shortest time.Duration) (time.Duration, error) {
	const day = 24 * time.Hour
	if least := int(shortest / day); days != 0 && (days < least || days > mostDays) {
		return 0, fmt.Errorf("%s %d: want %d to %d days, or 0 for no limit", name, days, least, mostDays)
	}
	return time.Duration(days) * day, nil
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
	return admin.Migrate(ctx, cfg)
}

// relax makes garbage collection less frequent, and even less if the store is another process.
func relax(cfg core.Config) {
	if cfg.Database == nil {
		gc.Relax(os.Getenv)
		return
	}
	gc.RelaxStateless(os.Getenv)
}
