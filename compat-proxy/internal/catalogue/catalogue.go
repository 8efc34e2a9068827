package catalogue

import "slices"

// SideEffect is the effect that a repeated call of a method can have.
type SideEffect string

// The side effect classes.
const (
	MoneyMovement SideEffect = "money_movement" // a repetition may move money again
	WriteSafe     SideEffect = "write_safe"     // writes, moves no money
	ReadOnly      SideEffect = "read_only"      // changes nothing
)

// UseScope is the scope that every legacy call needs.
const UseScope = "compat:use"

// Method is one legacy method.
type Method struct {
	// Provider is the dialect, "provider-a" or "provider-b".
	Provider string `json:"provider"`
	// Name is the method's name in its own dialect.
	Name string `json:"name"`
	// HTTPMethod and Path are where it is served; {id} stands for one path segment.
	HTTPMethod string `json:"http_method"`
	Path       string `json:"path"`
	// RPC is the method's name in JSON-RPC.
	RPC string `json:"rpc"`
	// MapsTo lists the command kinds a call may become.
	MapsTo []string `json:"maps_to"`
	// SideEffect is the effect that a repetition can have.
	SideEffect SideEffect `json:"side_effect"`
	// Scopes are the scopes that the caller's key must have, all of them.
	Scopes []string `json:"scopes"`
	// Available reports whether this build serves the method. A method that it does not serve is
	// recognised and refused.
	Available bool `json:"available"`
}

// Provider names, as in the paths.
const (
	ProviderA = "provider-a"
	ProviderB = "provider-b"
)

// The names of the methods, each in its own dialect.
const (
	CreateTransaction     = "createTransactionRequest"
	GetTransactionDetails = "getTransactionDetailsRequest"
	CreateCustomerProfile = "createCustomerProfileRequest"
	CreatePayment         = "createPayment"
	CapturePayment        = "capturePayment"
	ReversePayment        = "reversePayment"
	RefundPayment         = "refundPayment"
)

const (
	pathA = "/compat/provider-a/xml"
	pathB = "/compat/provider-b/pts/v2/payments"
)

// Methods returns the whole catalogue, in its published order. The caller owns the slice, not the
// lists in it.
func Methods() []Method { return slices.Clone(methods) }

// methods is the table. Nothing changes it.
var methods = []Method{
	a(CreateTransaction, MoneyMovement, "payments:authorize", true,
		"payment.authorize", "payment.capture", "payment.void", "payment.refund"),
	a(GetTransactionDetails, ReadOnly, "transactions:read", true, "transaction.get"),
	a(CreateCustomerProfile, WriteSafe, "customers:write", true, "customer.create", "token.create"),
	b(CreatePayment, "", "payments:authorize", "payment.authorize", "payment.capture"),
	b(CapturePayment, "/{id}/captures", "payments:capture", "payment.capture"),
	b(ReversePayment, "/{id}/reversals", "payments:authorize", "payment.void"),
	b(RefundPayment, "/{id}/refunds", "refunds:create", "payment.refund"),
}

// Find returns the method of that name in that dialect.
func Find(provider, name string) (Method, bool) {
	i := slices.IndexFunc(methods, func(m Method) bool { return m.Provider == provider && m.Name == name })
	if i < 0 {
		return Method{}, false
	}
	return methods[i], true
}

// Missing returns the scopes of m that granted lacks, in the catalogue's order; none means the call
// is allowed.
func (m Method) Missing(granted []string) []string {
	var missing []string
	for _, s := range m.Scopes {
		if !slices.Contains(granted, s) {
			missing = append(missing, s)
		}
	}
	return missing
}

func a(name string, effect SideEffect, scope string, available bool, mapsTo ...string) Method {
	return Method{
		Provider: ProviderA, Name: name, HTTPMethod: "POST", Path: pathA, RPC: "compat." + ProviderA + "." + name,
		MapsTo: mapsTo, SideEffect: effect, Scopes: []string{scope, UseScope}, Available: available,
	}
}

func b(name, path, scope string, mapsTo ...string) Method {
	return Method{
		Provider: ProviderB, Name: name, HTTPMethod: "POST", Path: pathB + path, RPC: "compat." + ProviderB + "." + name,
		MapsTo: mapsTo, SideEffect: MoneyMovement, Scopes: []string{scope, UseScope}, Available: true,
	}
}
