package announce

import (
	"context"
	"errors"
	"fmt"
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
	every = 5 * time.Second // how often the store is read for announcements
	lease = time.Minute     // for how long one filter has an announcement to itself: longer than an attempt takes
)

// Config is where core is. Store, Core and Token are required.
type Config struct {
	Store  *keystore.DB
	Core   string        // the address of core's operators' port
	Token  secret.String // the operator's
	Client *http.Client
	Clock  clock.Clock
	Log    *slog.Logger
}

// Announcer sends announcements to core. Any number of them may share a store.
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
			a.Log.ErrorContext(ctx, "announce", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Deliver tries all that is due, each once. What core does not take is due again later.
func (a *Announcer) Deliver(ctx context.Context) error {
	var faults []error
	for {
		next, err := a.Store.ClaimAnnouncement(ctx, lease)
		if errors.Is(err, keystore.ErrNotFound) {
			return errors.Join(faults...)
		}
		if err != nil {
			return errors.Join(append(faults, err)...)
		}
		if err := a.send(ctx, next); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", next.ID, err),
				a.Store.Postpone(ctx, next, a.Clock.Now().Add(announce.Gap(next.Attempts))))
			continue
		}
		if err := a.Store.Delivered(ctx, next.ID); err != nil {
			return errors.Join(append(faults, err)...) // it is sent again, and core recognises it
		}
	}
}

// send sends one announcement to core.
func (a *Announcer) send(ctx context.Context, what *keystore.Announcement) error {
	merchant, mode, _ := strings.Cut(what.Tenant, "/")
	return a.port.Merchant(ctx, merchant, announce.Event{
		Mode: mode, Type: what.Type, Name: strings.TrimPrefix(what.ID, what.Type+":"), Object: what.Body,
	})
}
