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
	// MapsTo lists the command kinds a call may become; none if it only checks the login.
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
	CreateTransaction      = "createTransactionRequest"
	GetTransactionDetails  = "getTransactionDetailsRequest"
	CreateCustomerProfile  = "createCustomerProfileRequest"
	AuthenticateTest       = "authenticateTestRequest"
	UnsettledTransactions  = "getUnsettledTransactionListRequest"
	BatchTransactions      = "getTransactionListRequest"
	CustomerTransactions   = "getTransactionListForCustomerRequest"
	SettledBatches         = "getSettledBatchListRequest"
	BatchStatistics        = "getBatchStatisticsRequest"
	MerchantDetails        = "getMerchantDetailsRequest"
	Logout                 = "logoutRequest"
	IsAlive                = "isAliveRequest"
	GetProfile             = "getCustomerProfileRequest"
	ProfileIDs             = "getCustomerProfileIdsRequest"
	UpdateProfile          = "updateCustomerProfileRequest"
	DeleteProfile          = "deleteCustomerProfileRequest"
	CreatePaymentProfile   = "createCustomerPaymentProfileRequest"
	GetPaymentProfile      = "getCustomerPaymentProfileRequest"
	UpdatePaymentProfile   = "updateCustomerPaymentProfileRequest"
	ValidatePaymentProfile = "validateCustomerPaymentProfileRequest"
	CreateShippingAddress  = "createCustomerShippingAddressRequest"
	GetShippingAddress     = "getCustomerShippingAddressRequest"
	UpdateShippingAddress  = "updateCustomerShippingAddressRequest"
	DeleteShippingAddress  = "deleteCustomerShippingAddressRequest"
	DeletePaymentProfile   = "deleteCustomerPaymentProfileRequest"
	PaymentProfileList     = "getCustomerPaymentProfileListRequest"
	ProfileFromTransaction = "createCustomerProfileFromTransactionRequest"
	ProfileTransaction     = "createCustomerProfileTransactionRequest"

	CreatePayment       = "createPayment"
	CapturePayment      = "capturePayment"
	ReversePayment      = "reversePayment"
	RefundPayment       = "refundPayment"
	RefundCapture       = "refundCapture"
	VoidPayment         = "voidPayment"
	VoidCapture         = "voidCapture"
	CreateCredit        = "createCredit"
	VoidRefund          = "voidRefund"
	VoidCredit          = "voidCredit"
	ReverseNamedPayment = "reverseByTransactionId"
	VoidNamedPayment    = "voidByTransactionId"
	GetTransaction      = "getTransaction"
	GetPayment          = "getPayment"
	GetCapture          = "getCapture"
	GetRefund           = "getRefund"
	GetCredit           = "getCredit"
	GetReversal         = "getReversal"
	GetVoid             = "getVoid"
)

// The paths of the methods: the one path of provider-a, and the mount path of provider-b.
const (
	PathA   = "/compat/provider-a/xml"
	PrefixB = "/compat/provider-b"
)

// Methods returns the whole catalogue, in its published order. The caller owns the slice, not the
// lists in it.
func Methods() []Method { return slices.Clone(methods) }

// methods is the table. Nothing changes it. The first seven rows are the specification's.
var methods = []Method{
	a(CreateTransaction, MoneyMovement, "payments:authorize",
		"payment.authorize", "payment.capture", "payment.void", "payment.refund"),
	a(GetTransactionDetails, ReadOnly, "transactions:read", "transaction.get"),
	a(CreateCustomerProfile, WriteSafe, "customers:write", "customer.create", "token.create"),
	b(CreatePayment, "payments", "payments:authorize", "payment.authorize", "payment.capture"),
	b(CapturePayment, "payments/{id}/captures", "payments:capture", "payment.capture"),
	b(ReversePayment, "payments/{id}/reversals", "payments:authorize", "payment.void"),
	b(RefundPayment, "payments/{id}/refunds", "refunds:create", "payment.refund"),

	a(AuthenticateTest, ReadOnly, ""),
	a(UnsettledTransactions, ReadOnly, "transactions:read", "transaction.list"),
	a(BatchTransactions, ReadOnly, "transactions:read", "transaction.list"),
	a(CustomerTransactions, ReadOnly, "transactions:read", "transaction.list"),
	a(SettledBatches, ReadOnly, "transactions:read", "settlement_day.list"),
	a(BatchStatistics, ReadOnly, "transactions:read", "settlement_day.get"),
	a(MerchantDetails, ReadOnly, ""),
	a(Logout, ReadOnly, ""),
	open(IsAlive),
	a(GetProfile, ReadOnly, "customers:read", "customer.get"),
	a(ProfileIDs, ReadOnly, "customers:read", "customer.list"),
	a(UpdateProfile, WriteSafe, "customers:write", "customer.update"),
	a(DeleteProfile, WriteSafe, "customers:write", "customer.delete"),
	a(CreatePaymentProfile, WriteSafe, "customers:write", "payment_method.create", "token.create"),
	a(GetPaymentProfile, ReadOnly, "customers:read", "payment_method.get"),
	a(UpdatePaymentProfile, WriteSafe, "customers:write", "payment_method.update", "token.create"),
	a(ValidatePaymentProfile, WriteSafe, "customers:write", "payment.authorize", "payment.void"),
	a(DeletePaymentProfile, WriteSafe, "customers:write", "payment_method.delete"),
	a(PaymentProfileList, ReadOnly, "customers:read", "payment_method.list"),
	a(ProfileFromTransaction, ReadOnly, "customers:write", "transaction.get", "customer.get"),
	a(ProfileTransaction, MoneyMovement, "payments:authorize",
		"payment.authorize", "payment.capture", "payment.void", "payment.refund"),
	a(CreateShippingAddress, WriteSafe, "customers:write", "customer.update"),
	a(GetShippingAddress, ReadOnly, "customers:read", "customer.get"),
	a(UpdateShippingAddress, WriteSafe, "customers:write", "customer.update"),
	a(DeleteShippingAddress, WriteSafe, "customers:write", "customer.update"),
	b(RefundCapture, "captures/{id}/refunds", "refunds:create", "payment.refund"),
	b(VoidPayment, "payments/{id}/voids", "payments:authorize", "payment.void"),
	b(VoidCapture, "captures/{id}/voids", "payments:authorize", "payment.void"),
	b(CreateCredit, "credits", "refunds:create", "payment.refund"),
	refused(VoidRefund, "refunds/{id}/voids"),
	refused(VoidCredit, "credits/{id}/voids"),
	b(ReverseNamedPayment, "reversals", "payments:authorize", "payment.void"),
	b(VoidNamedPayment, "voids", "payments:authorize", "payment.void"),
	read(GetTransaction, "/tss/v2/transactions/{id}"),
	read(GetPayment, "/pts/v2/payments/{id}"),
	read(GetCapture, "/pts/v2/captures/{id}"),
	read(GetRefund, "/pts/v2/refunds/{id}"),
	read(GetCredit, "/pts/v2/credits/{id}"),
	read(GetReversal, "/pts/v2/reversals/{id}"),
	read(GetVoid, "/pts/v2/voids/{id}"),
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

// a returns a method of provider-a. Without a scope it needs UseScope only.
func a(name string, effect SideEffect, scope string, mapsTo ...string) Method {
	m := Method{
		Provider: ProviderA, Name: name, HTTPMethod: "POST", Path: PathA, RPC: "compat." + ProviderA + "." + name,
		MapsTo: mapsTo, SideEffect: effect, Scopes: []string{UseScope}, Available: true,
	}
	if scope != "" {
		m.Scopes = []string{scope, UseScope}
	}
	return m
}

// open returns a method of provider-a that needs no login.
func open(name string) Method {
	m := a(name, ReadOnly, "")
	m.Scopes = []string{}
	return m
}

// b returns a method of provider-b that moves money, at a path of its payments API.
func b(name, path, scope string, mapsTo ...string) Method {
	return Method{
		Provider: ProviderB, Name: name, HTTPMethod: "POST", Path: PrefixB + "/pts/v2/" + path,
		RPC: "compat." + ProviderB + "." + name, MapsTo: mapsTo, SideEffect: MoneyMovement, Scopes: []string{scope, UseScope},
		Available: true,
	}
}

// refused returns the void of a refund. It only reads the refund, because v1 cannot void one.
func refused(name, path string) Method {
	m := b(name, path, "payments:authorize", "transaction.get")
	m.SideEffect = ReadOnly
	return m
}

// read returns a method of provider-b that reads.
func read(name, path string) Method {
	return Method{
		Provider: ProviderB, Name: name, HTTPMethod: "GET", Path: PrefixB + path, RPC: "compat." + ProviderB + "." + name,
		MapsTo: []string{"transaction.get"}, SideEffect: ReadOnly, Scopes: []string{"transactions:read", UseScope},
		Available: true,
	}
}
