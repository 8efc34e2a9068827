package catalogue_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
)

// withoutCommand are the methods that send v1 nothing but the API key.
var withoutCommand = []string{
	catalogue.AuthenticateTest, catalogue.MerchantDetails, catalogue.Logout, catalogue.IsAlive,
}

func TestMethods(t *testing.T) {
	t.Parallel()
	all := catalogue.Methods()
	if got, want := len(all), 47; got != want {
		t.Fatalf("methods: got %d, want %d", got, want)
	}
	rpc := map[string]bool{}
	for _, m := range all {
		if got, want := m.RPC, "compat."+m.Provider+"."+m.Name; got != want || rpc[got] {
			t.Errorf("rpc name: got %s, want %s, once", got, want)
		}
		rpc[m.RPC] = true
		if len(m.MapsTo) == 0 && !slices.Contains(withoutCommand, m.Name) {
			t.Errorf("%s maps to nothing", m.Name)
		}
		for _, kind := range m.MapsTo {
			if !slices.Contains(command.Kinds(), command.Kind(kind)) {
				t.Errorf("%s maps to %s, which is not a command", m.Name, kind)
			}
		}
		if m.Name == catalogue.IsAlive {
			if len(m.Scopes) != 0 {
				t.Errorf("%s needs %v, want no login", m.Name, m.Scopes)
			}
		} else if got, want := m.Scopes[len(m.Scopes)-1], catalogue.UseScope; got != want {
			t.Errorf("%s: last scope: got %s, want %s", m.Name, got, want)
		}
		if found, ok := catalogue.Find(m.Provider, m.Name); !ok || found.RPC != m.RPC {
			t.Errorf("%s is not found by its name", m.Name)
		}
	}
}

// TestTable holds the first rows of the catalogue to the specification's tables, to the letter.
func TestTable(t *testing.T) {
	t.Parallel()
	wantRows(t, catalogue.Methods()[:7], []string{
		"provider-a createTransactionRequest POST /compat/provider-a/xml money_movement " +
			"payment.authorize,payment.capture,payment.void,payment.refund payments:authorize,compat:use",
		"provider-a getTransactionDetailsRequest POST /compat/provider-a/xml read_only " +
			"transaction.get transactions:read,compat:use",
		"provider-a createCustomerProfileRequest POST /compat/provider-a/xml write_safe " +
			"customer.create,token.create customers:write,compat:use",
		"provider-b createPayment POST /compat/provider-b/pts/v2/payments money_movement " +
			"payment.authorize,payment.capture payments:authorize,compat:use",
		"provider-b capturePayment POST /compat/provider-b/pts/v2/payments/{id}/captures money_movement " +
			"payment.capture payments:capture,compat:use",
		"provider-b reversePayment POST /compat/provider-b/pts/v2/payments/{id}/reversals money_movement " +
			"payment.void payments:authorize,compat:use",
		"provider-b refundPayment POST /compat/provider-b/pts/v2/payments/{id}/refunds money_movement " +
			"payment.refund refunds:create,compat:use",
	})
}

// TestFurtherMethods states the methods that the specification does not name.
//
//nolint:funlen // one line for each method
func TestFurtherMethods(t *testing.T) {
	t.Parallel()
	const (
		moves    = " money_movement payment."
		voids    = moves + "void payments:authorize,compat:use"
		gives    = moves + "refund refunds:create,compat:use"
		reads    = " read_only transaction.get transactions:read,compat:use"
		lists    = " POST /compat/provider-a/xml read_only transaction.list transactions:read,compat:use"
		profiles = " POST /compat/provider-a/xml "
		days     = " POST /compat/provider-a/xml read_only settlement_day."
		none     = " read_only transaction.get payments:authorize,compat:use"
	)
	wantRows(t, catalogue.Methods()[7:], []string{
		"provider-a authenticateTestRequest POST /compat/provider-a/xml read_only  compat:use",
		"provider-a getUnsettledTransactionListRequest" + lists,
		"provider-a getTransactionListRequest" + lists,
		"provider-a getTransactionListForCustomerRequest" + lists,
		"provider-a getSettledBatchListRequest" + days + "list transactions:read,compat:use",
		"provider-a getBatchStatisticsRequest" + days + "get transactions:read,compat:use",
		"provider-a getMerchantDetailsRequest POST /compat/provider-a/xml read_only  compat:use",
		"provider-a logoutRequest POST /compat/provider-a/xml read_only  compat:use",
		"provider-a isAliveRequest POST /compat/provider-a/xml read_only  ",
		"provider-a getCustomerProfileRequest" + profiles + "read_only customer.get customers:read,compat:use",
		"provider-a getCustomerProfileIdsRequest" + profiles + "read_only customer.list customers:read,compat:use",
		"provider-a updateCustomerProfileRequest" + profiles + "write_safe customer.update customers:write,compat:use",
		"provider-a deleteCustomerProfileRequest" + profiles + "write_safe customer.delete customers:write,compat:use",
		"provider-a createCustomerPaymentProfileRequest" + profiles +
			"write_safe payment_method.create,token.create customers:write,compat:use",
		"provider-a getCustomerPaymentProfileRequest" + profiles + "read_only payment_method.get customers:read,compat:use",
		"provider-a updateCustomerPaymentProfileRequest" + profiles +
			"write_safe payment_method.update,token.create customers:write,compat:use",
		"provider-a validateCustomerPaymentProfileRequest" + profiles +
			"write_safe payment.authorize,payment.void customers:write,compat:use",
		"provider-a deleteCustomerPaymentProfileRequest" + profiles +
			"write_safe payment_method.delete customers:write,compat:use",
		"provider-a getCustomerPaymentProfileListRequest" + profiles +
			"read_only payment_method.list customers:read,compat:use",
		"provider-a createCustomerProfileFromTransactionRequest" + profiles +
			"read_only transaction.get,customer.get customers:write,compat:use",
		"provider-a createCustomerProfileTransactionRequest" + profiles + "money_movement " +
			"payment.authorize,payment.capture,payment.void,payment.refund payments:authorize,compat:use",
		"provider-a createCustomerShippingAddressRequest" + profiles +
			"write_safe customer.update customers:write,compat:use",
		"provider-a getCustomerShippingAddressRequest" + profiles + "read_only customer.get customers:read,compat:use",
		"provider-a updateCustomerShippingAddressRequest" + profiles +
			"write_safe customer.update customers:write,compat:use",
		"provider-a deleteCustomerShippingAddressRequest" + profiles +
			"write_safe customer.update customers:write,compat:use",
		"provider-b refundCapture POST /compat/provider-b/pts/v2/captures/{id}/refunds" + gives,
		"provider-b voidPayment POST /compat/provider-b/pts/v2/payments/{id}/voids" + voids,
		"provider-b voidCapture POST /compat/provider-b/pts/v2/captures/{id}/voids" + voids,
		"provider-b createCredit POST /compat/provider-b/pts/v2/credits" + gives,
		"provider-b voidRefund POST /compat/provider-b/pts/v2/refunds/{id}/voids" + none,
		"provider-b voidCredit POST /compat/provider-b/pts/v2/credits/{id}/voids" + none,
		"provider-b reverseByTransactionId POST /compat/provider-b/pts/v2/reversals" + voids,
		"provider-b voidByTransactionId POST /compat/provider-b/pts/v2/voids" + voids,
		"provider-b getTransaction GET /compat/provider-b/tss/v2/transactions/{id}" + reads,
		"provider-b getPayment GET /compat/provider-b/pts/v2/payments/{id}" + reads,
		"provider-b getCapture GET /compat/provider-b/pts/v2/captures/{id}" + reads,
		"provider-b getRefund GET /compat/provider-b/pts/v2/refunds/{id}" + reads,
		"provider-b getCredit GET /compat/provider-b/pts/v2/credits/{id}" + reads,
		"provider-b getReversal GET /compat/provider-b/pts/v2/reversals/{id}" + reads,
		"provider-b getVoid GET /compat/provider-b/pts/v2/voids/{id}" + reads,
	})
}

func wantRows(t *testing.T, methods []catalogue.Method, want []string) {
	t.Helper()
	var got []string
	for _, m := range methods {
		got = append(got, strings.Join([]string{
			m.Provider, m.Name, m.HTTPMethod, m.Path, string(m.SideEffect), strings.Join(m.MapsTo, ","),
			strings.Join(m.Scopes, ","),
		}, " "))
		if !m.Available {
			t.Errorf("%s: not available", m.Name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFindIsByProvider(t *testing.T) {
	t.Parallel()
	if m, ok := catalogue.Find(catalogue.ProviderB, catalogue.CreateTransaction); ok {
		t.Errorf("got %s, want nothing", m.RPC)
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	m, _ := catalogue.Find(catalogue.ProviderA, catalogue.CreateTransaction)
	tests := []struct {
		name    string
		granted []string
		want    []string
	}{
		{"OK", []string{"compat:use", "payments:authorize", "keys:write"}, nil},
		{"the method's", []string{"compat:use"}, []string{"payments:authorize"}},
		{"without compat:use", []string{"payments:authorize"}, []string{"compat:use"}},
		{"both", nil, []string{"payments:authorize", "compat:use"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := m.Missing(tt.granted); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
