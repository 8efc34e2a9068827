package command

import "github.com/causeway-pay/causeway/shared/secret"

// Named is a command to which the client gives a name. A later command with the same Name is a
// retry. It has no effect and gets the first result, for as long as v1 keeps it (24 hours). A
// different command under the same name is Refused with v1.CodeKeyReused. Only a command that had
// an effect, or may still have one, uses the name. After a refusal the name is free again. A Named
// command waits briefly while another operation on the same payment runs.
type Named struct {
	Command Command `json:"command"`
	// Name is unique within the caller's merchant and mode, for all its API keys. It may hold
	// anything: only a keyed hash leaves the proxy.
	Name string `json:"name"`
	// Bound ties the evidence of the request's login to Name, if the login does not cover it. The
	// zero Binding ties nothing.
	Bound Binding `json:"bound,omitzero"`
	// Evidence is the nonce or signature of the request's login, if the client chooses Name. After a
	// refusal, a repeat of the same bytes is refused again, and a retry with a new signature may use
	// Name. If Evidence is empty, a repeat of the same bytes may use Name too.
	Evidence string `json:"evidence,omitzero"`
	// Final makes a refusal use the name as well, where a retry must not have another result.
	Final bool `json:"final,omitzero"`
}

// Binding is the evidence of a request's login, its nonce or signature. V1 keeps it for 24 hours
// with the first Name that came with it. The same evidence with another Name is Refused with
// CodeNameSpent, and so is a Named command whose Name is the evidence itself.
type Binding struct {
	Evidence string `json:"evidence,omitempty"`
	// EvidenceKey is the API key whose merchant stores the evidence, where Name may belong to one of
	// several merchants. The zero EvidenceKey stands for the caller's key.
	EvidenceKey secret.String `json:"-"`
}

// Kind implements Command.
func (n Named) Kind() Kind { return n.Command.Kind() }
