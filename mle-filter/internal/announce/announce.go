package announce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/mle-filter/internal/keystore"
	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/secret"
)

const (
	every    = 5 * time.Second  // how often it is looked for something to tell
	lease    = time.Minute      // for how long one filter has an announcement to itself
	timeout  = 20 * time.Second // of one attempt; less than the lease
	firstGap = 5 * time.Second  // after the first attempt that failed; it doubles
	lastGap  = 10 * time.Minute
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

// Announcer tells core. Any number of them may share a store.
type Announcer struct{ Config }

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
	cfg.Core = strings.TrimSuffix(cfg.Core, "/")
	return &Announcer{cfg}
}

// Run tells core what there is to tell until ctx ends.
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
			faults = append(faults, fmt.Errorf("%s: %w", next.ID, err), a.Store.Postpone(ctx, next, a.Clock.Now().Add(gap(next.Attempts))))
			continue
		}
		if err := a.Store.Delivered(ctx, next.ID); err != nil {
			return errors.Join(append(faults, err)...) // it is sent again, and core knows it
		}
	}
}

// gap is how long to wait after that many attempts.
func gap(attempts int) time.Duration {
	d := firstGap
	for range attempts - 1 {
		if d *= 2; d >= lastGap {
			return lastGap
		}
	}
	return d
}

// message is the body that core takes.
type message struct {
	Mode   string         `json:"mode"`
	Type   string         `json:"type"`
	Name   string         `json:"name"`
	Object jsontext.Value `json:"object"`
}

func (a *Announcer) send(ctx context.Context, what *keystore.Announcement) error {
	merchant, mode, _ := strings.Cut(what.Tenant, "/")
	body, err := json.Marshal(message{mode, what.Type, strings.TrimPrefix(what.ID, what.Type+":"), what.Body})
	if err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.Core+"/admin/v1/merchants/"+url.PathEscape(merchant)+"/events", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+a.Token.Reveal())
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", what.ID)
	resp, err := a.Client.Do(r)
	if err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // what it says does not matter
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode != http.StatusCreated && resp.StatusCode != http.StatusOK {
		return fmt.Errorf("announce: core answered %d", resp.StatusCode)
	}
	return nil
}
