package catalogue_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
)

func TestMethods(t *testing.T) {
	t.Parallel()
	all := catalogue.Methods()
	if got, want := len(all), 7; got != want {
		t.Fatalf("methods: got %d, want %d", got, want)
	}
	rpc := map[string]bool{}
	for _, m := range all {
		if got, want := m.RPC, "compat."+m.Provider+"."+m.Name; got != want || rpc[got] {
			t.Errorf("rpc name: got %s, want %s, once", got, want)
		}
		rpc[m.RPC] = true
		if len(m.MapsTo) == 0 {
			t.Errorf("%s maps to nothing", m.Name)
		}
		for _, kind := range m.MapsTo {
			if !slices.Contains(command.Kinds(), command.Kind(kind)) {
				t.Errorf("%s maps to %s, which is not a command", m.Name, kind)
			}
		}
		if got, want := m.Scopes[len(m.Scopes)-1], catalogue.UseScope; got != want {
			t.Errorf("%s: last scope: got %s, want %s", m.Name, got, want)
		}
		if found, ok := catalogue.Find(m.Provider, m.Name); !ok || found.RPC != m.RPC {
			t.Errorf("%s is not found by its name", m.Name)
		}
	}
}

// TestTable holds the catalogue to the published table, to the letter.
func TestTable(t *testing.T) {
	t.Parallel()
	const xml, rest = "/compat/provider-a/xml", "/compat/provider-b/pts/v2/payments"
	want := [][]string{
		{
			"provider-a", "createTransactionRequest", xml, "money_movement",
			"payment.authorize, payment.capture, payment.void, payment.refund", "payments:authorize, compat:use",
		},
		{"provider-a", "getTransactionDetailsRequest", xml, "read_only", "transaction.get", "transactions:read, compat:use"},
		{
			"provider-a", "createCustomerProfileRequest", xml, "write_safe", "customer.create, token.create",
			"customers:write, compat:use",
		},
		{
			"provider-b", "createPayment", rest, "money_movement", "payment.authorize, payment.capture",
			"payments:authorize, compat:use",
		},
		{
			"provider-b", "capturePayment", rest + "/{id}/captures", "money_movement", "payment.capture",
			"payments:capture, compat:use",
		},
		{
			"provider-b", "reversePayment", rest + "/{id}/reversals", "money_movement", "payment.void",
			"payments:authorize, compat:use",
		},
		{
			"provider-b", "refundPayment", rest + "/{id}/refunds", "money_movement", "payment.refund",
			"refunds:create, compat:use",
		},
	}
	var got [][]string
	for _, m := range catalogue.Methods() {
		got = append(got, []string{
			m.Provider, m.Name, m.Path, string(m.SideEffect), strings.Join(m.MapsTo, ", "), strings.Join(m.Scopes, ", "),
		})
		if m.HTTPMethod != "POST" || !m.Available {
			t.Errorf("%s: %s, available %v, want POST and true", m.Name, m.HTTPMethod, m.Available)
		}
	}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got  %v\nwant %v", got, want)
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
