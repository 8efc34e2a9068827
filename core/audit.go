package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// LeastKeepAudit is the shortest time for which audit records are kept.
const LeastKeepAudit = 366 * 24 * time.Hour

// ErrTampered reports that audit records were changed, removed, added or reordered.
var ErrTampered = audit.ErrBroken

// AuditRecord is one operator action as `core audit` shows it.
type AuditRecord = operator.AuditRecord

// localActor is the operator at the command line: the user of the operating system, and the user
// that called sudo.
func localActor() audit.Actor {
	name := "uid " + strconv.Itoa(os.Getuid())
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	if caller := os.Getenv("SUDO_USER"); caller != "" {
		name += " (sudo " + caller + ")"
	}
	return audit.Actor{Name: "cli " + name}
}

// actor is the operator that the actions of this Admin belong to.
func (cfg Config) actor() audit.Actor {
	if cfg.Actor != "" {
		return audit.Actor{Name: cfg.Actor}
	}
	return localActor()
}

// request is one of the operator at the command line.
func (a *Admin) request() engine.Request {
	return engine.Request{Tenant: engine.Operator(), ID: id.Random(id.Request), Actor: a.cfg.actor()}
}

// act runs an action that writes its audit record in its own commit. A refused or failed one gets a
// record here.
func (a *Admin) act(ctx context.Context, action, object string, fn func(engine.Request) error) error {
	r := a.request()
	err := fn(r)
	if err == nil {
		return nil
	}
	return errors.Join(err, a.recorded(ctx, r, engine.Action{Name: action, Object: object}, audit.Failed))
}

// actOutside runs an action without a commit in the store: one record before it, one with its
// outcome.
func (a *Admin) actOutside(ctx context.Context, action, object string, fn func() error) error {
	r, what := a.request(), engine.Action{Name: action, Object: object}
	if err := a.recorded(ctx, r, what, audit.Begun); err != nil {
		return err
	}
	err := fn()
	outcome := audit.Done
	if err != nil {
		outcome = audit.Failed
	}
	return errors.Join(err, a.recorded(ctx, r, what, outcome))
}

func (a *Admin) recorded(ctx context.Context, r engine.Request, what engine.Action, outcome string) error {
	if err := a.engine().Recorded(context.WithoutCancel(ctx), r, what, outcome); err != nil {
		return fmt.Errorf("write the audit record of %s: %w", what.Name, err)
	}
	return nil
}

// AuditRecords returns at most limit records before a sequence, newest first; 0 begins with the
// newest.
func (a *Admin) AuditRecords(ctx context.Context, before int64, limit int) ([]AuditRecord, error) {
	found, err := a.db.NewestAuditRecords(ctx, before, limit)
	if err != nil {
		return nil, err
	}
	out := make([]AuditRecord, 0, len(found))
	for _, r := range found {
		out = append(out, api.ShowAuditRecord(r))
	}
	return out, nil
}

// auditPage is how many records one read takes.
const auditPage = 500

// eachAuditRecord hands every record to fn, oldest first.
func (a *Admin) eachAuditRecord(ctx context.Context, fn func(*audit.Record) error) error {
	for after := int64(0); ; {
		found, err := a.db.AuditRecords(ctx, after, auditPage)
		if err != nil {
			return err
		}
		for _, r := range found {
			if err := fn(r); err != nil {
				return err
			}
			after = r.Sequence
		}
		if len(found) < auditPage {
			return nil
		}
	}
}

// ExportAudit writes all audit records to w, oldest first, one JSON object in each line, and
// records the export.
func (a *Admin) ExportAudit(ctx context.Context, w io.Writer) error {
	return a.actOutside(ctx, "audit.export", "", func() error {
		return a.eachAuditRecord(ctx, func(r *audit.Record) error {
			line, err := json.Marshal(api.ShowAuditRecord(r))
			if err == nil {
				_, err = w.Write(append(line, '\n'))
			}
			return err
		})
	})
}

// VerifyAudit checks the chain of all audit records and returns its head, "SEQUENCE:MAC". head is a
// head that was logged or printed before, which the chain must contain; "" checks the chain alone,
// which cannot find that its newest records were removed. The error is ErrTampered if a record was
// changed, removed, added or reordered.
func (a *Admin) VerifyAudit(ctx context.Context, head string) (string, error) {
	var known *audit.Head
	if head != "" {
		h, err := audit.ParseHead(head)
		if err != nil {
			return "", err
		}
		known = &h
	}
	v := audit.NewVerifier(known, a.audit)
	if err := a.eachAuditRecord(ctx, v.Add); err != nil {
		return "", err
	}
	end, err := v.End()
	return end.String(), err
}

// keepAudit logs the head of the audit record at the start and once a day, and removes records that
// are older than Config.KeepAudit.
func keepAudit(ctx context.Context, a *Admin, eng *engine.Engine, cfg Config) {
	tick := time.NewTicker(24 * time.Hour)
	defer tick.Stop()
	for {
		if eng.Peers.Leads() {
			err := a.purgeAudit(ctx, cfg)
			if err == nil {
				err = a.logHead(ctx, cfg.Log)
			}
			if err != nil && ctx.Err() == nil {
				cfg.Log.ErrorContext(ctx, "audit record not kept", slog.Any("error", err))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (a *Admin) logHead(ctx context.Context, log *slog.Logger) error {
	head, err := a.db.AuditHead(ctx)
	if err != nil || head.Sequence == 0 {
		return err
	}
	log.InfoContext(ctx, "audit head", slog.String("head", head.String()))
	return nil
}

// purgeAudit removes old records, which leaves a record itself.
func (a *Admin) purgeAudit(ctx context.Context, cfg Config) error {
	if cfg.KeepAudit == 0 {
		return nil
	}
	return a.db.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.PurgeAudit(a.audit, tx.Confirmed().Add(-cfg.KeepAudit), &audit.Record{Actor: "core"})
		return err
	})
}

// checkKeepAudit refuses to keep records for less than a year.
func (cfg Config) checkKeepAudit() error {
	if cfg.KeepAudit == 0 || cfg.KeepAudit >= LeastKeepAudit {
		return nil
	}
	return fmt.Errorf("audit records kept for %s: want at least %d days, or 0 to keep all", cmp.Or(cfg.KeepAudit, 0), LeastKeepAudit/(24*time.Hour))
}
