package api

import (
	"context"
	"time"

	"github.com/causeway-pay/causeway/core/internal/audit"
	"github.com/causeway-pay/causeway/core/internal/payment"
)

// Reader reads the objects that the handlers show. A method for one object returns
// payment.ErrNotFound if the tenant has none with the id. Changes go through the engine.
type Reader interface {
	paymentReader
	customerReader
	eventReader
	operatorReader

	Key(ctx context.Context, tenant payment.Tenant, id int64) (*payment.APIKey, error)
	Keys(ctx context.Context, t payment.Tenant, p payment.Page) (payment.List[*payment.APIKey], error)
	// Ping reads from the store, and PingWriter commits to it.
	Ping(ctx context.Context) error
	PingWriter(ctx context.Context) error
	// ClockStepped returns how far the clock has stepped ahead while this process ran.
	ClockStepped() time.Duration
	// DateAt returns the Date of a time of the clock. It goes on after the clock is set back.
	DateAt(at time.Time) time.Time
}

type paymentReader interface {
	Transaction(ctx context.Context, t payment.Tenant, id int64) (*payment.Transaction, error)
	TransactionsByID(ctx context.Context, t payment.Tenant, ids []int64) (payment.Found[*payment.Transaction], error)
	FilteredTransactions(
		ctx context.Context, t payment.Tenant, f payment.TransactionFilter, p payment.Page,
	) (payment.List[*payment.Transaction], error)
	Capture(ctx context.Context, t payment.Tenant, id int64) (*payment.Capture, error)
	CapturesByID(ctx context.Context, t payment.Tenant, ids []int64) (payment.Found[*payment.Capture], error)
	Captures(
		ctx context.Context, t payment.Tenant, f payment.StepFilter, p payment.Page,
	) (payment.List[*payment.Capture], error)
	Refund(ctx context.Context, t payment.Tenant, id int64) (*payment.Refund, error)
	Refunds(ctx context.Context, t payment.Tenant, f payment.StepFilter, p payment.Page) (payment.List[*payment.Refund], error)
	SettlementDay(ctx context.Context, t payment.Tenant, id int64) (*payment.SettlementDay, error)
	SettlementDays(
		ctx context.Context, t payment.Tenant, f payment.DayFilter, p payment.Page,
	) (payment.List[*payment.SettlementDay], error)
}

type customerReader interface {
	Token(ctx context.Context, t payment.Tenant, id int64) (*payment.Token, error)
	TokensByID(ctx context.Context, t payment.Tenant, ids []int64) (payment.Found[*payment.Token], error)
	Customer(ctx context.Context, t payment.Tenant, id int64) (*payment.Customer, error)
	CustomersByID(ctx context.Context, t payment.Tenant, ids []int64) (payment.Found[*payment.Customer], error)
	Customers(
		ctx context.Context, t payment.Tenant, f payment.CustomerFilter, p payment.Page,
	) (payment.List[*payment.Customer], error)
	Method(ctx context.Context, t payment.Tenant, id int64) (*payment.Method, error)
	MethodsByID(ctx context.Context, t payment.Tenant, ids []int64) (payment.Found[*payment.Method], error)
	Methods(
		ctx context.Context, t payment.Tenant, customer int64, f payment.MethodFilter, p payment.Page,
	) (payment.List[*payment.Method], error)
}

type eventReader interface {
	Event(ctx context.Context, t payment.Tenant, id int64) (*payment.Event, error)
	Events(ctx context.Context, t payment.Tenant, f payment.EventFilter, p payment.Page) (payment.List[*payment.Event], error)
	Endpoint(ctx context.Context, t payment.Tenant, id int64) (*payment.Endpoint, error)
	Endpoints(ctx context.Context, t payment.Tenant, f payment.MetadataFilter, p payment.Page) (payment.List[*payment.Endpoint], error)
	Deliveries(
		ctx context.Context, t payment.Tenant, endpoint int64, p payment.Page,
	) (payment.List[*payment.Delivery], error)
}

// operatorReader reads for operators, across tenants.
type operatorReader interface {
	Merchant(ctx context.Context, id int64) (payment.Merchant, error)
	MerchantPage(ctx context.Context, p payment.Page) (payment.List[payment.Merchant], error)
	MerchantKey(ctx context.Context, merchant, id int64) (*payment.APIKey, error)
	MerchantKeys(ctx context.Context, merchant int64, p payment.Page) (payment.List[*payment.APIKey], error)
	UnfinishedSteps(ctx context.Context, f payment.UnfinishedFilter, limit int) ([]payment.Unfinished, error)
	SettlementExceptions(ctx context.Context, f payment.ExceptionFilter, limit int) ([]payment.SettlementException, error)
	Account(ctx context.Context, id int64) (*payment.Account, error)
	// Accounts lists the accounts of a merchant, or of all merchants if merchant is 0.
	Accounts(ctx context.Context, merchant int64, p payment.Page) (payment.List[*payment.Account], error)
	Operators(ctx context.Context) ([]*payment.OperatorToken, error)
	// MLERequirements lists all announced requirements of encryption, oldest first.
	MLERequirements(ctx context.Context) ([]*payment.MLERequirement, error)
	// NewestAuditRecords lists the audit records before a sequence, newest first; 0 lists all.
	NewestAuditRecords(ctx context.Context, before int64, limit int) ([]*audit.Record, error)
}
