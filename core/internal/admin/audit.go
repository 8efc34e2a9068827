package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/core/internal/api"
	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/shared/id"
)

// localActor returns the operator at the command line: the user of the operating system, and the
// user that called sudo.
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

// request returns a new request of the operator.
func (a *Admin) request() engine.Request {
	actor := audit.Actor{Name: a.actor}
	if a.actor == "" {
		actor = localActor()
	}
	return engine.Request{Tenant: engine.Operator(), ID: id.Random(id.Request), Actor: actor}
}

// act runs an action that writes its audit record in its own commit. It writes the record of a
// refused or failed action.
func (a *Admin) act(ctx context.Context, action, object string, fn func(engine.Request) error) error {
	r := a.request()
	err := fn(r)
	if err == nil {
		return nil
	}
	return errors.Join(err, a.recorded(ctx, r, engine.Action{Name: action, Object: object}, audit.Failed))
}

// actOutside runs an action without a commit in the store. It writes one record before the action
// and one with its outcome.
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
func (a *Admin) AuditRecords(ctx context.Context, before int64, limit int) ([]operator.AuditRecord, error) {
	found, err := a.db.NewestAuditRecords(ctx, before, limit)
	if err != nil {
		return nil, err
	}
	out := make([]operator.AuditRecord, 0, len(found))
	for _, r := range found {
		out = append(out, api.ShowAuditRecord(r))
	}
	return out, nil
}

// auditPage is the number of records in one read.
const auditPage = 500

// eachAuditRecord passes every record to fn, oldest first.
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

// VerifyAudit checks the chain of all audit records and returns its head, "SEQUENCE:MAC". The chain
// must contain head, a head that was logged or printed before. "" checks the chain alone, which
// does not find that its newest records were removed. The error is audit.ErrBroken if a record was
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
	v := audit.NewVerifier(known, a.auditKey)
	if err := a.eachAuditRecord(ctx, v.Add); err != nil {
		return "", err
	}
	end, err := v.End()
	return end.String(), err
}
