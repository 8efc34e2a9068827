package webhook

import "github.com/causeway-pay/causeway/core/internal/payment"

// Observer is told what the deliverer did, after the commit that made it so. Its methods are called by many goroutines and must not block.
type Observer interface {
	// DeliveryAttempted: an attempt ended. failure is "" or one of the classes of failure, and status where that left the delivery.
	DeliveryAttempted(failure string, status payment.DeliveryStatus)
	// EndpointDisabled: an endpoint gets nothing any more.
	EndpointDisabled(reason payment.EndpointReason)
	// DeliveriesPurged: a purge ended, and removed so many old deliveries.
	DeliveriesPurged(n int64, err error)
}

type nobody struct{}

func (nobody) DeliveryAttempted(string, payment.DeliveryStatus) {}
func (nobody) EndpointDisabled(payment.EndpointReason)          {}
func (nobody) DeliveriesPurged(int64, error)                    {}
