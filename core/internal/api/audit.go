package api

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/operator"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

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
