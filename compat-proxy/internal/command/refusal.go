package command

// Refusal replaces a command that the caller refuses without v1, because of settings or scopes that
// may change. It has no effect. In a Named command it uses the name or the evidence like a refusal
// by v1. So a later request with the same bytes is refused too. Its result is Refused with
// CodeNotPermitted, or another result if v1 did not store the refusal.
type Refusal struct {
	// Of is the kind of the refused command.
	Of Kind `json:"of"`
}

// CodeNotPermitted is not a v1 code: it is the result of a Refusal.
const CodeNotPermitted = "not_permitted"

// Kind implements Command.
func (r Refusal) Kind() Kind { return r.Of }
