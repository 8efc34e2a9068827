package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/id"
)

// expand is the parameter that names the objects to show in addition to their ids.
const expand = "expand"

// maxExpanded bounds the bytes of an item with its expanded objects, so that a page with this item
// alone has at most maxPage. An object that would exceed it is left out.
const maxExpanded = maxPage - 128

// expansion is an object that a response can show in addition to its id.
type expansion struct {
	prefix id.Prefix
	scope  string // to read the object
	reader objectReader
}

// objectReader reads objects of one type by their ids, as the contract shows them.
type objectReader struct {
	one  func(context.Context, Reader, payment.Tenant, int64) ([]byte, error)
	many func(context.Context, Reader, payment.Tenant, []int64) (payment.Found[[]byte], error)
}

// expansions are the names that a client can expand: the field with the id has the same name.
var expansions = map[string]expansion{
	"transaction": {
		id.Transaction, apikey.ScopeTransactionsReadOne,
		readerOf(Reader.Transaction, Reader.TransactionsByID, showTransaction),
	},
	"capture":  {id.Capture, apikey.ScopeTransactionsReadOne, readerOf(Reader.Capture, Reader.CapturesByID, showCapture)},
	"customer": {id.Customer, apikey.ScopeCustomersReadOne, readerOf(Reader.Customer, Reader.CustomersByID, showCustomer)},
	"payment_method": {
		id.PaymentMethod, apikey.ScopeCustomersReadOne, readerOf(attachedMethod, Reader.MethodsByID, showMethod),
	},
	defaultMethod: {
		id.PaymentMethod, apikey.ScopeCustomersReadOne, readerOf(attachedMethod, Reader.MethodsByID, showMethod),
	},
	"token": {id.Token, apikey.ScopeTokensReadOne, readerOf(Reader.Token, Reader.TokensByID, showToken)},
}

// expandable are the names by the object that shows the ids.
var expandable = map[id.Prefix][]string{
	id.Transaction:   {"customer", "payment_method", "token"},
	id.Capture:       {"transaction"},
	id.Refund:        {"transaction", "capture", "payment_method", "token"},
	id.Customer:      {defaultMethod},
	id.PaymentMethod: {"customer"},
}

// references are the fields of an object with the ids of others.
type references struct {
	Transaction          string `json:"transaction"`
	Capture              string `json:"capture"`
	Customer             string `json:"customer"`
	PaymentMethod        string `json:"payment_method"`
	DefaultPaymentMethod string `json:"default_payment_method"`
}

// id returns the id of the object that a name expands, 0 if there is none. The payment method of a
// payment is a stored one or a token.
func (r *references) id(name string) int64 {
	text := map[string]string{
		"transaction": r.Transaction, "capture": r.Capture, "customer": r.Customer,
		"payment_method": r.PaymentMethod, defaultMethod: r.DefaultPaymentMethod, "token": r.PaymentMethod,
	}[name]
	n, err := id.Parse(expansions[name].prefix, text)
	if err != nil {
		return 0
	}
	return n
}

// readerOf returns a reader of the objects that one and many read.
func readerOf[Row, Shown any](
	one func(Reader, context.Context, payment.Tenant, int64) (Row, error),
	many func(Reader, context.Context, payment.Tenant, []int64) (payment.Found[Row], error),
	show func(Row) Shown,
) objectReader {
	encoded := func(row Row) []byte {
		shown := show(row)
		return encode(&shown)
	}
	return objectReader{
		func(ctx context.Context, r Reader, t payment.Tenant, n int64) ([]byte, error) {
			row, err := one(r, ctx, t, n)
			if err != nil {
				return nil, err
			}
			return encoded(row), nil
		},
		func(ctx context.Context, r Reader, t payment.Tenant, ids []int64) (payment.Found[[]byte], error) {
			found, err := many(r, ctx, t, ids)
			out := payment.Found[[]byte]{ByID: map[int64][]byte{}, Read: found.Read}
			for n, row := range found.ByID {
				out.ByID[n] = encoded(row)
			}
			return out, err
		},
	}
}

// attachedMethod reads a payment method that can still be read by its id.
func attachedMethod(r Reader, ctx context.Context, t payment.Tenant, n int64) (*payment.Method, error) { //nolint:revive // a method of Reader as a function has its receiver first
	m, err := r.Method(ctx, t, n)
	if err == nil && !m.DetachedAt.IsZero() {
		return nil, payment.ErrNotFound
	}
	return m, err
}

// expanding reads the names to expand in the objects of a kind. The key needs the scope of each.
func expanding(r *http.Request, k *payment.APIKey, of id.Prefix) ([]string, error) {
	q := r.URL.Query()
	if !q.Has(expand) {
		return nil, nil
	}
	names := strings.Split(q.Get(expand), ",")
	for i, name := range names {
		if !slices.Contains(expandable[of], name) || slices.Contains(names[:i], name) {
			return nil, &fault{
				code: codeInvalidValue, param: expand,
				message: "The value must be one or more of these names, each once, with commas between them: " +
					strings.Join(expandable[of], ", ") + ".",
			}
		}
		if err := needScope(k, expansions[name].scope); err != nil {
			return nil, err
		}
	}
	return names, admission.Received(r.Context(), r.Method, int64(1+len(names))*maxPage)
}

// expandingOne is expanding for one object, which has no other parameter.
func expandingOne(r *http.Request, k *payment.APIKey, of id.Prefix) ([]string, error) {
	if _, err := query(r, expand); err != nil {
		return nil, err
	}
	return expanding(r, k, of)
}

// expandingPage is reservePage for objects that can be expanded. It also reads the names to expand.
func expandingPage(
	r *http.Request, k *payment.APIKey, of id.Prefix, filter ...string,
) (payment.Page, []string, error) {
	p, err := reservePage(r, of, slices.Concat(filter, []string{expand})...)
	if err != nil {
		return p, nil, err
	}
	names, err := expanding(r, k, of)
	return p, names, err
}

// showObject sends one object with the objects that the request expands.
func (a *API) showObject(w http.ResponseWriter, r *http.Request, k *payment.APIKey, names []string, shown any) error {
	body := encode(shown)
	if names != nil {
		refs := referencesOf(body)
		objects := make([][]byte, len(names))
		for i, name := range names {
			n := refs.id(name)
			if n == 0 {
				continue
			}
			object, err := expansions[name].reader.one(r.Context(), a.Store, k.Tenant, n)
			if err != nil && faultOf(err).code != codeNotFound {
				return err
			}
			objects[i] = object
		}
		body = withExpanded(body, names, objects)
	}
	a.write(w, r, http.StatusOK, body)
	return nil
}

// showPage sends a page of a list with the objects that the request expands.
func showPage[Row, Item any](
	a *API, w http.ResponseWriter, r *http.Request, k *payment.APIKey, names []string, p payment.Page,
	found payment.List[Row], show func(Row) Item,
) error {
	if names == nil {
		a.write(w, r, http.StatusOK, showList(p, found, show))
		return nil
	}
	items := make([]jsontext.Value, 0, len(found.Rows))
	for _, row := range found.Rows {
		shown := show(row)
		items = append(items, encode(&shown))
	}
	list, err := a.expandPage(r.Context(), k.Tenant, names, p, payment.List[jsontext.Value]{Rows: items, More: found.More})
	if err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, showList(p, list, func(i expandedItem) jsontext.Value {
		return withExpanded(i.item, names, i.objects)
	}))
	return nil
}

// expandedItem is an item of a list with its expanded objects by the position of the name, nil for
// none. Several items may have one object, so a page with all of them can be far above maxPage. It
// is built item by item, up to its end.
type expandedItem struct {
	item    jsontext.Value
	objects [][]byte
}

// expandPage reads the objects that the items of a page expand. One statement reads all objects of
// a name. The page ends before the first item of which the statement did not read the object.
func (a *API) expandPage(
	ctx context.Context, t payment.Tenant, names []string, p payment.Page, l payment.List[jsontext.Value],
) (payment.List[expandedItem], error) {
	if p.Before != 0 {
		slices.Reverse(l.Rows) // the oldest item is next to the cursor
	}
	refs := make([]references, len(l.Rows))
	rows := make([]expandedItem, len(l.Rows))
	for i, item := range l.Rows {
		refs[i] = referencesOf(item)
		rows[i] = expandedItem{item, make([][]byte, len(names))}
	}
	complete := len(rows)
	for j, name := range names {
		n, err := a.expandItems(ctx, t, name, refs[:complete], func(i int, object []byte) { rows[i].objects[j] = object })
		if err != nil {
			return payment.List[expandedItem]{}, err
		}
		complete = n
	}
	out := payment.List[expandedItem]{Rows: rows[:complete], More: l.More || complete < len(rows)}
	if p.Before != 0 {
		slices.Reverse(out.Rows)
	}
	return out, nil
}

// expandItems reads the objects of a name. It returns the number of items whose object was read or
// does not exist, at least one.
func (a *API) expandItems(
	ctx context.Context, t payment.Tenant, name string, refs []references, set func(item int, object []byte),
) (int, error) {
	var ids []int64
	places := map[int64]int{} // by id, in ids
	for i := range refs {
		n := refs[i].id(name)
		if _, listed := places[n]; n != 0 && !listed {
			places[n] = len(ids)
			ids = append(ids, n)
		}
	}
	if len(ids) == 0 {
		return len(refs), nil
	}
	found, err := expansions[name].reader.many(ctx, a.Store, t, ids)
	if err != nil {
		return 0, err
	}
	for i := range refs {
		n := refs[i].id(name)
		if n != 0 && places[n] >= found.Read {
			return i, nil
		}
		set(i, found.ByID[n])
	}
	return len(refs), nil
}

func referencesOf(object []byte) references {
	var out references
	if err := json.Unmarshal(object, &out); err != nil {
		panic("api: internal error: an object of the contract does not decode")
	}
	return out
}

// withExpanded adds the member expanded to an object: the expanded objects by name.
func withExpanded(object []byte, names []string, objects [][]byte) []byte {
	members := []byte{}
	for i, name := range names {
		if len(objects[i]) == 0 || len(object)+len(members)+len(objects[i]) > maxExpanded {
			continue
		}
		if len(members) > 0 {
			members = append(members, ',')
		}
		members = append(append(append(members, `"`+name...), `":`...), objects[i]...)
	}
	return slices.Concat(object[:len(object)-1], []byte(`,"expanded":{`), members, []byte("}}"))
}
