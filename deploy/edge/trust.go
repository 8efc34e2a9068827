package edge

import (
	"github.com/causeway-pay/causeway/deploy/edge/internal/trust"
	"github.com/causeway-pay/causeway/shared/tlspolicy"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Trust is the configuration of a Publisher.
type Trust = trust.Config

// Publisher is the history of the certificates, past, present and next, with the handlers that
// publish it.
type Publisher = trust.Publisher

// OpenPublisher reads the history, or creates one. It returns an error for an unreadable history
// and leaves it unchanged.
func OpenPublisher(cfg Trust) (*Publisher, error) { return trust.Open(cfg) }

// PolicyOf returns a policy in the form of a Publisher.
func PolicyOf(p tlspolicy.Policy) v1.TLSPolicy {
	return v1.TLSPolicy(p.Describe())
}
