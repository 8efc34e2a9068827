package api

import (
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// listAudit lists audit records, newest first; only records with a sequence below before are
// listed.
func (o *Operator) listAudit(w http.ResponseWriter, r *http.Request, _ *trail) error {
	q, err := query(r, "limit", "before")
	if err != nil {
		return err
	}
	n, err := limit(q)
	if err != nil {
		return err
	}
	before := int64(0)
	if q.Has("before") {
		if before, err = strconv.ParseInt(q.Get("before"), 10, 64); err != nil || before < 1 {
			return &fault{code: codeInvalidValue, param: "before", message: "The value must be the sequence of an audit record."}
		}
	}
	found, err := o.Store.NewestAuditRecords(r.Context(), before, n+1)
	if err != nil {
		return err
	}
	records := payment.List[*audit.Record]{Rows: found[:min(n, len(found))], More: len(found) > n}
	o.write(w, r, http.StatusOK, showList(payment.Page{}, records, ShowAuditRecord))
	return nil
}

// ShowAuditRecord shows an audit record as the operator's API and exports have it.
func ShowAuditRecord(r *audit.Record) operator.AuditRecord {
	return operator.AuditRecord{
		Object: operator.ObjectAuditRecord, Sequence: r.Sequence, At: v1.Time{Time: r.At}, Actor: r.Actor, ClientAddress: r.ClientAddress,
		Action: r.Action, ObjectID: r.Object, Before: raw(r.Before), After: raw(r.After), Outcome: r.Outcome,
		RequestID: r.RequestID, Head: audit.Head{Sequence: r.Sequence, MAC: r.MAC}.String(),
	}
}

// raw is JSON as it was stored, nil for none.
func raw(text string) jsontext.Value {
	if text == "" {
		return nil
	}
	return jsontext.Value(text)
}
