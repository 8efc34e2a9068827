package rotation

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/shared/certfile"
)

// apart is the least time between two attempts to serve a certificate that a listener refused.
// Otherwise a listener that reconnects often would change the certificate as often.
const apart = time.Minute

// dropped is a refused next certificate.
type dropped struct {
	pairs []*certfile.Pair // for a retry with other listeners; empty if no listener refused them
	turns int              // the fleet's turnover until then
	tried time.Time        // the last retry; zero before the first
}

// unfit handles a certificate that its source refused.
func (r *Rotation) unfit(ctx context.Context, err error) {
	r.bad = true
	r.alarm()
	r.cfg.Count("refused")
	r.logRefused(ctx, err)
}

// alarm is on while the source's last certificate is neither served nor next.
func (r *Rotation) alarm() { r.cfg.Alarm.Refused(r.bad || r.dropped != nil) }

// refuse drops a certificate, which is no longer the next one. Pairs are retried after other
// listeners have connected, unless the source has a newer certificate.
func (r *Rotation) refuse(ctx context.Context, err error, pairs ...*certfile.Pair) {
	if len(r.next) == 0 {
		d := &dropped{pairs: pairs, turns: r.cfg.Fleet.Turnover()}
		if r.dropped != nil {
			d.tried = r.dropped.tried
		}
		r.dropped = d
	}
	r.alarm()
	r.cfg.Count("refused")
	r.logRefused(ctx, err)
	r.record(ctx)
}

func (r *Rotation) logRefused(ctx context.Context, err error) {
	what := "edge: the certificate was rejected; the present one stays"
	if len(r.live) == 0 {
		what = "edge: the certificate was rejected, and there is none to serve"
	}
	r.cfg.Log.ErrorContext(ctx, what, slog.Any("error", err)) //nolint:sloglint // one of the two above
}

// clearRefused forgets the refused certificate, because the source found another.
func (r *Rotation) clearRefused() {
	r.bad, r.dropped = false, nil
	r.alarm()
}

// retry serves a refused certificate again after other listeners have connected: the cause may
// have been one that is gone.
func (r *Rotation) retry() {
	d, turns := r.dropped, r.cfg.Fleet.Turnover()
	if d == nil || len(d.pairs) == 0 || len(r.next) > 0 || d.turns == turns || same(d.pairs, r.live) {
		return
	}
	if now := r.cfg.Clock.Now(); d.tried.IsZero() || now.Sub(d.tried) >= apart {
		d.turns, d.tried = turns, now
		r.next, r.at = d.pairs, now
	}
}

// rollBack serves the previous certificate, because a listener refused the new one.
func (r *Rotation) rollBack(ctx context.Context, why error) {
	pairs := r.live
	r.live = r.before
	err := r.cfg.Fleet.Serve(ctx, r.live)
	r.published, r.before = false, nil
	r.refuse(ctx, errors.Join(why, err), pairs...)
	r.cfg.Alarm.Serve(ctx, r.live...)
}
