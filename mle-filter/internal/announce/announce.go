package announce

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/shared/announce"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	every = 5 * time.Second // the interval of reads from the store
	lease = time.Minute     // the claim of one filter; longer than an attempt takes
)

// Config locates core. Store, Core and Token are required.
type Config struct {
	Store  *keystore.DB
	Core   string        // the address of core's operators' port
	Token  secret.String // the filter token
	Client *http.Client
	Clock  clock.Clock
	Log    *slog.Logger
}

// Announcer sends announcements to core. Several may share a store.
type Announcer struct {
	Config
	port announce.Port
}

// New returns an announcer.
func New(cfg Config) *Announcer {
	if cfg.Client == nil {
		cfg.Client = &http.Client{}
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.System()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Announcer{cfg, announce.Port{URL: cfg.Core, Token: cfg.Token, Client: cfg.Client}}
}

// Run sends the announcements of the store to core until ctx ends.
func (a *Announcer) Run(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := a.Deliver(ctx); err != nil && ctx.Err() == nil {
			a.Log.ErrorContext(ctx, "mle-filter: sending rotation events failed", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Deliver sends each due event once, until core is unreachable.
func (a *Announcer) Deliver(ctx context.Context) error {
	return announce.Deliver(ctx, outbox{a.Store, a.Clock}, a.port.Send)
}

// outbox is the outbox of the key store. Several filters share it.
type outbox struct {
	store *keystore.DB
	clock clock.Clock
}

// Claim implements announce.Outbox.
func (o outbox) Claim(ctx context.Context) (*announce.Pending, error) {
	next, err := o.store.ClaimAnnouncement(ctx, lease)
	if errors.Is(err, keystore.ErrNotFound) {
		return nil, nil //nolint:nilnil // none is due
	}
	if err != nil {
		return nil, err
	}
	merchant, mode, _ := strings.Cut(next.Tenant, "/")
	return &announce.Pending{ID: next.ID, Merchant: merchant, Attempts: next.Attempts, Event: announce.Event{
		Mode: mode, Type: next.Type, Name: strings.TrimPrefix(next.ID, next.Type+":"), Object: next.Body,
	}}, nil
}

// Delivered implements announce.Outbox.
func (o outbox) Delivered(ctx context.Context, p *announce.Pending) error {
	return o.store.Delivered(ctx, p.ID)
}

// Postpone implements announce.Outbox.
func (o outbox) Postpone(ctx context.Context, p *announce.Pending, pause time.Duration) error {
	return o.store.Postpone(ctx, p.ID, p.Attempts, o.clock.Now().Add(pause))
}
