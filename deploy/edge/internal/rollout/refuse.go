package rollout

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/causeway-pay/causeway/shared/certfile"
)

// apart is how long there is between two attempts at least to serve what an Envoy refused: one that comes and goes must not change certificates as
// often.
const apart = time.Minute

// dropped is what was to be served, and is not.
type dropped struct {
	pairs []*certfile.Pair // to be tried again with other Envoys; none where no Envoy was the reason
	turns int              // of the Envoys that there were
	tried time.Time        // when it was tried again last; the zero time: not yet
}

// unfit takes note of what the source found and did not take.
func (r *Rollout) unfit(ctx context.Context, err error) {
	r.bad = true
	r.alarm()
	r.cfg.Metrics.certificate("refused")
	r.logRefused(ctx, err)
}

// alarm is on while what was found last is not what is served, or comes next.
func (r *Rollout) alarm() { r.cfg.Alarm.Refused(r.bad || r.dropped != nil) }

// refuse drops what was next. Pairs are tried again when other Envoys are connected.
func (r *Rollout) refuse(ctx context.Context, err error, pairs ...*certfile.Pair) {
	r.next, r.at = nil, time.Time{}
	d := &dropped{pairs: pairs, turns: r.cfg.Server.Turnover()}
	if r.dropped != nil {
		d.tried = r.dropped.tried
	}
	r.dropped = d
	r.alarm()
	r.cfg.Metrics.certificate("refused")
	r.logRefused(ctx, errors.Join(err, r.cfg.Story.Next(ctx, time.Time{})))
}

func (r *Rollout) logRefused(ctx context.Context, err error) {
	what := "edge: certificate refused, the present one stays"
	if len(r.live) == 0 {
		what = "edge: certificate refused, and there is none to serve"
	}
	r.cfg.Log.ErrorContext(ctx, what, slog.Any("error", err)) //nolint:sloglint // one of the two above
}

// forgive forgets what was refused: something else was found.
func (r *Rollout) forgive() {
	r.bad, r.dropped = false, nil
	r.alarm()
}

// retry has what an Envoy refused served once more when others are connected: it may have been that one's fault, and it may be gone.
func (r *Rollout) retry() {
	d, turns := r.dropped, r.cfg.Server.Turnover()
	if d == nil || len(d.pairs) == 0 || len(r.next) > 0 || d.turns == turns || same(d.pairs, r.live) {
		return
	}
	if now := r.cfg.Clock.Now(); d.tried.IsZero() || now.Sub(d.tried) >= apart {
		d.turns, d.tried = turns, now
		r.next, r.at = d.pairs, now
	}
}

// takeBack serves what was served before, because an Envoy does not take what came after.
func (r *Rollout) takeBack(ctx context.Context, why error) {
	pairs := r.live
	r.live = r.before
	change, err := r.cfg.Plane.Certify(ctx, r.live)
	err = errors.Join(why, r.save(), err)
	r.told, r.before, r.change = false, nil, change
	r.refuse(ctx, err, pairs...)
	r.cfg.Alarm.Serve(ctx, r.live...)
}
