package engine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
)

// The prefixes of the names of steps that are not objects.
const (
	voidPrefix     id.Prefix = "void"
	reversalPrefix id.Prefix = "rev"
)

// StepName returns the name of an unfinished step for operators: rev_… of a pending reversal,
// otherwise the acquirer's reference of the attempt. An earlier attempt at a payment has its own
// outcome under another reference, so two attempts never share a name.
func StepName(s payment.StepID) string {
	if s.Kind == payment.ReversalStep {
		return id.Format(reversalPrefix, s.ID)
	}
	return stepReference(s)
}

// StepReference returns the acquirer's reference of an unfinished step. A pending reversal has the
// reference of the step that it reverses.
func StepReference(u *payment.Unfinished) string {
	if u.Step.Kind == payment.ReversalStep {
		return stepReference(u.Reverses)
	}
	return stepReference(u.Step)
}

// ParseStep returns the filter that selects the step with a name. It returns id.ErrMalformed for
// any other text.
func ParseStep(name string) (payment.UnfinishedFilter, error) {
	prefix, rest, _ := strings.Cut(name, "_")
	switch first, second, more := strings.Cut(rest, "_"); {
	case prefix == string(id.Transaction):
		return parseAttempt(id.Prefix(prefix), first, second, more)
	case prefix == string(voidPrefix) && more:
		return parseVoid(first, second)
	case prefix == string(id.Capture):
		return parseObject(payment.CaptureStep, id.Capture, name)
	case prefix == string(id.Refund):
		return parseObject(payment.RefundStep, id.Refund, name)
	case prefix == string(reversalPrefix):
		return parseObject(payment.ReversalStep, reversalPrefix, name)
	}
	err := fmt.Errorf("step %q: want txn_…, void_…_…, cap_…, re_… or rev_…: %w", name, id.ErrMalformed)
	return payment.UnfinishedFilter{}, err
}

// parseAttempt reads txn_… of a payment or of the first attempt to confirm it, or txn_…_2 and so on
// of a later one.
func parseAttempt(prefix id.Prefix, transaction, attempt string, later bool) (payment.UnfinishedFilter, error) {
	f, err := parseObject(payment.AuthorizeStep, prefix, string(prefix)+"_"+transaction)
	f.Number = 1
	if err != nil || !later {
		return f, err
	}
	n, err := strconv.ParseInt(attempt, 10, 64)
	if err != nil || n < 2 || strconv.FormatInt(n, 10) != attempt {
		return f, fmt.Errorf("step: the attempt %q is not a number from 2: %w", attempt, id.ErrMalformed)
	}
	f.Number = n
	return f, nil
}

// parseVoid reads void_ with the ids of the transaction and of the void.
func parseVoid(transaction, number string) (payment.UnfinishedFilter, error) {
	f, err := parseObject(payment.VoidStep, voidPrefix, string(voidPrefix)+"_"+transaction)
	if err == nil {
		f.Number, err = id.Parse(voidPrefix, string(voidPrefix)+"_"+number)
	}
	return f, err
}

func parseObject(kind payment.StepKind, prefix id.Prefix, name string) (payment.UnfinishedFilter, error) {
	n, err := id.Parse(prefix, name)
	return payment.UnfinishedFilter{Kind: kind, ID: n}, err
}
