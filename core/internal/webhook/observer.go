package webhook

import "github.com/causeway-pay/causeway/core/internal/payment"

// Observer counts the work of the deliverer. Its methods are called after the commit of that work,
// by many goroutines, and must not block.
type Observer interface {
	// DeliveryAttempted reports the end of an attempt. failure is "" or one of the classes of failure.
	// status is the new status of the delivery.
	DeliveryAttempted(failure string, status payment.DeliveryStatus)
	// EndpointDisabled reports that an endpoint was disabled and gets no more deliveries.
	EndpointDisabled(reason payment.EndpointReason)
	// DeliveriesDiscarded reports how many pending deliveries ended as failed because too many were
	// pending.
	DeliveriesDiscarded(n int64)
	// DeliveriesPurged reports the end of a purge, with the number of removed old deliveries.
	DeliveriesPurged(n int64, err error)
}

type noObserver struct{}

func (noObserver) DeliveryAttempted(string, payment.DeliveryStatus) {}
func (noObserver) EndpointDisabled(payment.EndpointReason)          {}
func (noObserver) DeliveriesDiscarded(int64)                        {}
func (noObserver) DeliveriesPurged(int64, error)                    {}
