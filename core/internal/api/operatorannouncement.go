package api

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/core/internal/engine"
	"github.com/causeway-pay/causeway/core/internal/operator"
	"github.com/causeway-pay/causeway/core/internal/payment"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// maxEventName is the length of the longest name of an announcement in bytes.
const maxEventName = 200

// platformEvents are the types of events about the platform, not about payments.
var platformEvents = []v1.EventType{v1.EventTypeMleKeyRotated, v1.EventTypeCertificateRotated, v1.EventTypeTLSCipherPolicyChanged}

// announce writes an event of the platform for one merchant.
func (o *Operator) announce(c *call, left *trail) (engine.Result, error) {
	n, err := merchantID(c.Request, left)
	if err != nil {
		return engine.Result{}, err
	}
	var in operator.EventCreate
	if err := c.decode(&in, false); err != nil {
		return engine.Result{}, err
	}
	if f := checkAnnouncement(&in); f != nil {
		return engine.Result{}, f
	}
	return o.Engine.Announce(c.Context(), c.request, engine.Announcement{
		Tenant: payment.Tenant{Merchant: n, Live: in.Mode == v1.ModeLive}, Type: string(in.Type), Name: in.Name, Object: in.Object,
	})
}

func checkAnnouncement(in *operator.EventCreate) *fault {
	if f := modeFault(in.Mode); f != nil {
		return f
	}
	return checkPlatformEvent(platformEvents, in.Type, in.Name, in.Object)
}

// wantMode is the message of a wrong mode.
const wantMode = `The mode must be "test" or "live".`

// modeFault checks the mode of an operator's request.
func modeFault(m v1.Mode) *fault {
	switch {
	case m == "":
		return &fault{code: codeMissingField, param: "mode"}
	case !m.Valid():
		return &fault{code: codeInvalidValue, param: "mode", message: wantMode}
	}
	return nil
}

// checkPlatformEvent checks an event of the platform, for one merchant or for all merchants.
func checkPlatformEvent(types []v1.EventType, kind v1.EventType, name string, object jsontext.Value) *fault {
	switch {
	case kind == "":
		return &fault{code: codeMissingField, param: "type"}
	case !slices.Contains(types, kind):
		return &fault{code: codeInvalidValue, param: "type", message: "This type of event cannot be announced here. Check its name."}
	case name == "":
		return &fault{code: codeMissingField, param: "name"}
	case len(name) > maxEventName:
		return &fault{code: codeInvalidValue, param: "name", message: "The name must have 1 to 200 bytes."}
	case len(object) == 0:
		return &fault{code: codeMissingField, param: "object"}
	case object.Kind() != jsontext.KindBeginObject:
		return &fault{code: codeInvalidType, param: "object"}
	}
	return nil
}
