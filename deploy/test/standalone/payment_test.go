package standalone_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// payment is a client's sequence of requests on one payment.
type payment struct {
	reference string
	id        string // from the first response
	calls     []call
}

// call is one POST. {id} stands for the payment's id.
type call struct{ path, key, body string }

// plan returns the n-th payment of a client: each kind of life in turn.
func plan(reference string, n int) *payment {
	p := &payment{reference: reference}
	create := fmt.Sprintf(`{"amount":%d,"currency":"usd","payment_method":"card","reference":%q,"capture":"automatic"}`,
		1000+n, reference)
	held := strings.Replace(create, "automatic", "manual", 1)
	const txn = "/v1/transactions/{id}"
	switch n % 6 {
	case 0:
		p.add("/v1/transactions", create)
	case 1:
		p.add("/v1/transactions", held)
	case 2:
		p.add("/v1/transactions", held)
		p.add(txn+"/captures", `{"amount":300}`)
	case 3:
		p.add("/v1/transactions", held)
		p.add(txn+"/captures", `{"amount":300}`)
		p.add(txn+"/captures", `{"amount":200,"final":true}`)
	case 4:
		p.add("/v1/transactions", held)
		p.add(txn+"/void", `{}`)
	case 5:
		p.add("/v1/transactions", create)
		p.add("/v1/test_helpers/transactions/{id}/settle", "")
		p.add("/v1/refunds", `{"transaction":"{id}","amount":250}`)
		p.add("/v1/refunds", `{"transaction":"{id}","amount":150}`)
	}
	return p
}

func (p *payment) add(path, body string) {
	p.calls = append(p.calls, call{path: path, body: body, key: p.reference + "-" + strconv.Itoa(len(p.calls))})
}

// proceed sends all requests in order, until the connection fails.
func (p *payment) proceed(ctx context.Context, m *merchant) error {
	for _, c := range p.calls {
		got, err := m.do(ctx, http.MethodPost, strings.ReplaceAll(c.path, "{id}", p.id), c.key,
			strings.ReplaceAll(c.body, "{id}", p.id))
		if err != nil {
			return err
		}
		if got.status/100 != 2 {
			return fmt.Errorf("%s: %d %s", c.path, got.status, got.body)
		}
		if p.id == "" {
			_, rest, _ := strings.Cut(got.body, `"txn_`)
			number, _, _ := strings.Cut(rest, `"`)
			p.id = "txn_" + number
		}
	}
	return nil
}
