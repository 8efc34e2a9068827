package edge

import (
	"github.com/causeway-pay/causeway/deploy/edge/internal/trust"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Trust says what a Story is told of, and to whom.
type Trust = trust.Config

// Story is the history of what was served, is served and comes next, and what is told of it.
type Story = trust.Story

// OpenTrust reads the history, or begins one. A history that cannot be read is an error and stays as it is.
func OpenTrust(cfg Trust) (*Story, error) { return trust.Open(cfg) }

// PolicyOf is what a Story is told of a policy.
func PolicyOf(p tlspolicy.Policy) v1.TLSPolicy {
	return v1.TLSPolicy(p.Describe())
}
