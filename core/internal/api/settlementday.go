package api

import (
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/id"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

func (a *API) settlementDayRoutes() []route {
	return []route{
		{http.MethodGet, "/v1/settlement_days", apikey.ScopeTransactionsRead, a.listSettlementDays},
		{http.MethodGet, "/v1/settlement_days/{id}", apikey.ScopeTransactionsRead, a.getSettlementDay},
	}
}

func (a *API) listSettlementDays(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	const after, before = "ended_after", "ended_before"
	p, err := reservePage(r, id.SettlementDay, after, before)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	var f payment.DayFilter
	if f.After, err = moment(q, after); err != nil {
		return err
	}
	if f.Before, err = moment(q, before); err != nil {
		return err
	}
	found, err := a.Store.SettlementDays(r.Context(), k.Tenant, f, p)
	if err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, showList(p, found, showSettlementDay))
	return nil
}

func (a *API) getSettlementDay(w http.ResponseWriter, r *http.Request, k *payment.APIKey) error {
	if _, err := query(r); err != nil {
		return err
	}
	n, err := pathID(r, id.SettlementDay)
	if err != nil {
		return err
	}
	day, err := a.Store.SettlementDay(r.Context(), k.Tenant, n)
	if err != nil {
		return err
	}
	shown := showSettlementDay(day)
	a.write(w, r, http.StatusOK, encode(&shown))
	return nil
}

func showSettlementDay(d *payment.SettlementDay) v1.SettlementDay {
	out := v1.SettlementDay{
		ID: id.Format(id.SettlementDay, d.ID), Object: v1.SettlementDayObjectSettlementDay, Mode: mode(d.Tenant),
		EndedAt: v1.Time{Time: id.TimeOf(d.ID).UTC()}, Totals: []v1.SettlementTotal{},
	}
	for _, t := range d.Totals {
		total := v1.SettlementTotal{
			Currency: t.Currency, PaymentMethod: v1.SettlementTotalPaymentMethodCard, Captures: t.Captures,
			AmountCaptured: t.Captured, Refunds: t.Refunds, AmountRefunded: t.Refunded,
		}
		if t.Source == payment.BankAccountSource {
			total.PaymentMethod = v1.SettlementTotalPaymentMethodBankAccount
		} else if t.Source != "" {
			brand := v1.CardBrand(t.Source)
			total.CardBrand = &brand
		}
		out.Totals = append(out.Totals, total)
	}
	return out
}

// optionalDay returns the id of a settlement day, nil for none.
func optionalDay(day int64) *string {
	if day == 0 {
		return nil
	}
	text := id.Format(id.SettlementDay, day)
	return &text
}
