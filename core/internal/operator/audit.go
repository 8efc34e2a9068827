package operator

import (
	"github.com/go-json-experiment/json/jsontext"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// ObjectAuditRecord is the object of an AuditRecord.
const ObjectAuditRecord = "audit_record"

// AuditRecord is one action of an operator.
type AuditRecord struct {
	Object        string         `json:"object"`
	Sequence      int64          `json:"sequence"` // 1, 2, 3, … without a gap
	At            v1.Time        `json:"at"`
	Actor         string         `json:"actor"`                    // "operator alice opr_…", "cli root"
	ClientAddress string         `json:"client_address,omitempty"` // not at the command line
	Action        string         `json:"action"`                   // "merchants.update"
	ObjectID      string         `json:"object_id,omitempty"`
	Before        jsontext.Value `json:"before,omitempty"` // without secrets
	After         jsontext.Value `json:"after,omitempty"`  // without secrets
	Outcome       string         `json:"outcome"`          // done, begun, failed, replayed, or the code of the error
	RequestID     string         `json:"request_id,omitempty"`
	Head          string         `json:"head"` // SEQUENCE:MAC, for audit verify --head
}

// AuditRecordList is a page of audit records, newest first.
type AuditRecordList struct {
	Object  string        `json:"object"`
	Data    []AuditRecord `json:"data"`
	HasMore bool          `json:"has_more"`
}
