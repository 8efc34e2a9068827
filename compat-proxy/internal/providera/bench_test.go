package providera_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/goldentest"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// instant approves everything immediately, so that the benchmark measures the translation.
type instant struct{ paid v1.Transaction }

func (instant) Identify(context.Context, secret.String) (v1.APIKey, command.Result) {
	return v1.APIKey{Scopes: []string{"payments:authorize", catalogue.UseScope}}, command.Result{Outcome: command.Done}
}

func (x instant) Execute(context.Context, secret.String, command.Command) command.Result {
	return command.Result{Outcome: command.Done, Transaction: &x.paid}
}

func BenchmarkTranslation(b *testing.B) {
	for _, name := range []string{"x1-sale/request.xml", "j1-authorize/request.json"} {
		b.Run(name, func(b *testing.B) {
			request := goldentest.MustRead(b, "testdata/"+name)
			handler := mustHandler(b, instant{paid: v1.Transaction{
				ID:   goldentest.WithIDs("txn:60410000123"),
				Mode: v1.ModeTest,
			}})
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/", bytes.NewReader(request))
				handler.ServeHTTP(httptest.NewRecorder(), r)
			}
		})
	}
}

// Bind implements dialect.Executor.
func (instant) Bind(context.Context, secret.String, command.Binding, []string) command.Result {
	return command.Result{Outcome: command.Done}
}
