package api

import (
	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// commonEvents are the types of events that are the same for all merchants.
var commonEvents = []v1.EventType{v1.EventTypeCertificateRotated, v1.EventTypeTLSCipherPolicyChanged}

// broadcast writes an event of the platform for all merchants.
func (o *Operator) broadcast(c *call, _ *trail) (engine.Result, error) {
	var in operator.BroadcastCreate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	if f := checkPlatformEvent(commonEvents, in.Type, in.Name, in.Object); f != nil {
		return engine.Result{}, f
	}
	return o.Engine.Broadcast(c.Context(), c.request, string(in.Type), in.Name, in.Object)
}

func showBroadcast(b *payment.Broadcast) *operator.Broadcast {
	out := &operator.Broadcast{
		Object: operator.ObjectBroadcast, Type: v1.EventType(b.Type), Name: b.Name, Status: operator.Telling, Merchants: b.Told,
		CreatedAt: v1.Time{Time: b.CreatedAt}, FinishedAt: optionalTime(b.FinishedAt),
	}
	if !b.FinishedAt.IsZero() {
		out.Status = operator.Told
	}
	return out
}
