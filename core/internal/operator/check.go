package operator

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// acquirerID matches an acquirer's id of a step.
var acquirerID = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)

// FieldError reports a field of a request, or a flag of the command line, with a value that is not
// allowed. Text names the field and the allowed values. It repeats no text of the request, which
// may contain a secret.
type FieldError struct{ Field, Text string }

func (e *FieldError) Error() string { return e.Text }

func fieldError(field, want string, args ...any) error {
	return &FieldError{Field: field, Text: field + ": want " + fmt.Sprintf(want, args...)}
}

// Change checks the settings of a merchant. The error is a FieldError.
func (u MerchantUpdate) Change() (payment.MerchantChange, error) {
	c := payment.MerchantChange{
		Cutoff: -1, UnlinkedRefunds: u.UnlinkedRefunds, Personal: u.KeepPersonalDays, Customers: u.KeepCustomersDays,
	}
	for _, period := range []struct {
		field string
		days  *int
	}{{"keep_personal_data_days", c.Personal}, {"keep_customers_days", c.Customers}} {
		if period.days != nil && !payment.ValidKeepDays(*period.days) {
			return c, fieldError(period.field, "60 to 36525 days, or 0 for the period of the service, got %d", *period.days)
		}
	}
	if u.Name != nil {
		if c.Name = *u.Name; !payment.ValidMerchantName(c.Name) {
			return c, fieldError("name", "1 to 200 characters, got %d", utf8.RuneCountInString(c.Name))
		}
	}
	if u.TimeZone != nil {
		if c.TimeZone = *u.TimeZone; !payment.ValidTimeZone(c.TimeZone) {
			return c, fieldError("time_zone", "an IANA name such as Europe/Vienna")
		}
	}
	if u.Cutoff != nil {
		end, err := time.Parse("15:04", *u.Cutoff)
		if err != nil || len(*u.Cutoff) != len("15:04") {
			return c, fieldError("cutoff", "two digits each, 00:00 to 23:59")
		}
		c.Cutoff = end.Hour()*60 + end.Minute()
	}
	return c, nil
}

// Token returns the new operator token at the time now. The error is a FieldError.
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
	d := engine.Resolution{
		Decision: engine.Decision(r.Outcome), Reason: strings.TrimSpace(r.Reason), AcquirerID: r.AcquirerID,
	}
	all := []engine.Decision{
		engine.DecisionApproved, engine.DecisionDeclined, engine.DecisionNoEffect, engine.DecisionReleased,
	}
	if !slices.Contains(all, d.Decision) {
		return d, fieldError("outcome", "approved, declined, no_effect or released")
	}
	approved := d.Decision == engine.DecisionApproved
	switch {
	case d.AcquirerID != "" && !approved:
		return d, fieldError("acquirer_id", "none unless the outcome is approved")
	case d.AcquirerID != "" && !acquirerID.MatchString(d.AcquirerID):
		return d, fieldError("acquirer_id", "1 to 64 letters, digits, - and _")
	case r.AsOf == nil && approved:
		return d, fieldError("as_of", "the time at which the acquirer's records were read, such as 2026-11-22T14:05:00Z")
	case r.AsOf != nil && !approved:
		return d, fieldError("as_of", "none unless the outcome is approved")
	case approved:
		d.AsOf = r.AsOf.Time
	}
	return d, checkReason(d.Reason)
}

// checkReason checks the reason of an operator's decision. The error is a FieldError.
func checkReason(reason string) error {
	if n := utf8.RuneCountInString(reason); n < 10 || n > 500 {
		return fieldError("reason", "10 to 500 characters, got %d", n)
	}
	return nil
}

// Resolution checks the resolution of a settlement exception. The error is a FieldError.
func (r SettlementResolve) Resolution() (engine.SettlementResolution, error) {
	d := engine.SettlementResolution{
		Outcome: engine.SettlementOutcome(r.Outcome), Reason: strings.TrimSpace(r.Reason),
		DespiteFailedReport: r.DespiteFailedReport,
	}
	if d.Outcome != engine.OutcomeSettled && d.Outcome != engine.OutcomeNotSettled {
		return d, fieldError("outcome", "settled or not_settled")
	}
	return d, checkReason(d.Reason)
}
