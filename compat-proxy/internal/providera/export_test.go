package providera

import (
	"context"
	"slices"
	"time"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/card"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Canonical is canonical, for the tests.
func Canonical(text string) string { return canonical(text) }

// Expiration is expiration, for the tests.
func Expiration(text string) (month, year int, hidden, ok bool) { return expiration(text) }

// Expired is expired, for the tests.
func Expired(month, year int, now time.Time) bool { return expired(month, year, now) }

// AccountType returns the brand's name of a number that passes every check, else "".
func AccountType(number string) string {
	a, _ := brandOf(secret.New(number))
	return a.name
}

// BrandName returns the dialect's name of v1's brand, empty if the table lacks it.
func BrandName(b v1.CardBrand) string { return accounts[card.Brand(b)].name }

// ResultCodes is resultCodes, for the tests.
func ResultCodes(t *v1.Transaction) (avs, cvv, cavv string) { return resultCodes(t) }

// Judge is judge. It returns the problem as in the log, "" for none.
func Judge(transactionType string, r command.Result) string {
	if p := judge(transactionType, r); !p.none() {
		return p.String()
	}
	return ""
}

// Class returns the class of the outcome with a reason.
func Class(code int) string { return because(reason(code)).class() }

// HasDecline reports whether the table of declines has the code.
func HasDecline(c v1.DeclineCode) bool {
	_, known := declineReasons[c]
	return known
}

// Reasons lists the table of reasons as code, class and text.
func Reasons() [][3]any {
	var rows [][3]any
	for code, row := range reasons {
		rows = append(rows, [3]any{int(code), string(row.class), row.text})
	}
	slices.SortFunc(rows, func(a, b [3]any) int { return a[0].(int) - b[0].(int) })
	return rows
}

// APITexts returns the table of envelope codes.
func APITexts() map[string]string {
	texts := map[string]string{}
	for code, text := range apiText {
		texts[string(code)] = text
	}
	return texts
}

// Serve executes a request of a caller whose key has the scopes.
func (h *Handler) Serve(ctx context.Context, req *wire.Request, scopes ...string) {
	m, _ := catalogue.Find(catalogue.ProviderA, req.Method)
	handlers[m.Name](h, ctx, call{req: req, scopes: scopes, basis: basis{currency: "usd"}})
}
