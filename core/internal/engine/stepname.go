package engine

import (
	"fmt"
	"strings"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/core/internal/store"
	"github.com/causeway-pay/causeway/shared/id"
)

// stepPrefixes are the prefixes of the names of unfinished steps.
var stepPrefixes = map[payment.StepKind]id.Prefix{
	payment.AuthorizeStep: id.Transaction, payment.VoidStep: "void", payment.CaptureStep: id.Capture,
	payment.RefundStep: id.Refund, payment.ReversalStep: "rev",
}

// StepName is the name of an unfinished step for operators: txn_… of a payment, cap_…, re_…,
// void_…, or rev_… of a pending reversal.
func StepName(s payment.StepID) string {
	n := s.ID
	if s.Kind == payment.AuthorizeStep {
		n = s.Transaction
	}
	return id.Format(stepPrefixes[s.Kind], n)
}

// ParseStep returns the filter that selects the step with a name. id.ErrMalformed if it is none.
func ParseStep(name string) (store.UnfinishedFilter, error) {
	prefix, _, _ := strings.Cut(name, "_")
	for kind, p := range stepPrefixes {
		if string(p) != prefix {
			continue
		}
		n, err := id.Parse(p, name)
		return store.UnfinishedFilter{Kind: kind, ID: n}, err
	}
	err := fmt.Errorf("step %q: want txn_…, void_…, cap_…, re_… or rev_…: %w", name, id.ErrMalformed)
	return store.UnfinishedFilter{}, err
}
