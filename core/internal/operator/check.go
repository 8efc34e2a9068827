package operator

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// FieldError reports a field of a request, or a flag of the command line, with a value that is not
// allowed. Text names the field and the values that are. It repeats no text of the request, which
// may contain a secret.
type FieldError struct{ Field, Text string }

func (e *FieldError) Error() string { return e.Text }

func fieldError(field, want string, args ...any) error {
	return &FieldError{Field: field, Text: field + ": want " + fmt.Sprintf(want, args...)}
}

// Token checks a new operator token at a time. The error is a FieldError.
func (t TokenCreate) Token(now time.Time) (payment.OperatorToken, error) {
	out := payment.OperatorToken{Name: t.Name, Role: string(t.Role)}
	if n := utf8.RuneCountInString(t.Name); n < 1 || n > 100 {
		return out, fieldError("name", "1 to 100 characters, got %d", n)
	}
	if !t.Role.Valid() {
		return out, fieldError("role", "%s, %s or %s", RoleOperator, RoleAuditor, RoleFilter)
	}
	if t.ExpiresAt != nil {
		if out.ExpiresAt = t.ExpiresAt.Time; !out.ExpiresAt.After(now) {
			return out, fieldError("expires_at", "a time in the future")
		}
	}
	return out, nil
}

// Resolution checks an operator's decision. The error is a FieldError.
func (r StepResolve) Resolution() (engine.Resolution, error) {
	d := engine.Resolution{Decision: engine.Decision(r.Outcome), Reason: strings.TrimSpace(r.Reason)}
	all := []engine.Decision{engine.StepApproved, engine.StepDeclined, engine.StepNoEffect, engine.StepReleased}
	if !slices.Contains(all, d.Decision) {
		return d, fieldError("outcome", "approved, declined, no_effect or released")
	}
	if n := utf8.RuneCountInString(d.Reason); n < 10 || n > 500 {
		return d, fieldError("reason", "10 to 500 characters, got %d", n)
	}
	return d, nil
}
