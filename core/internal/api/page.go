package api

import (
	"bytes"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/id"
)

// The bounds of a page.
const (
	defaultLimit = 20
	maxLimit     = 100

	// maxPage is the most bytes of a response with a page. mle-filter encrypts responses up to this
	// size by default: max_response. Even the largest possible item has less than half of it.
	maxPage = 1 << 20
)

// reservePage reads the parameters of a list, and reserves the memory for its largest page: see
// admission.Received. It refuses unknown parameters, except the list's own, which others names.
func reservePage(r *http.Request, p id.Prefix, others ...string) (payment.Page, error) {
	q, err := query(r, append([]string{"limit", "starting_after", "ending_before"}, others...)...)
	if err != nil {
		return payment.Page{}, err
	}
	var out payment.Page
	if out.Limit, err = limit(q); err != nil {
		return payment.Page{}, err
	}
	if out.After, err = cursor(q, "starting_after", p); err != nil {
		return payment.Page{}, err
	}
	if out.Before, err = cursor(q, "ending_before", p); err != nil {
		return payment.Page{}, err
	}
	if out.After != 0 && out.Before != 0 {
		return payment.Page{}, &fault{code: codeInvalidCursor, param: "ending_before"}
	}
	return out, admission.Received(r.Context(), r.Method, maxPage)
}

// limit reads the size of a page, defaultLimit if the parameter is absent.
func limit(q url.Values) (int, error) {
	if !q.Has("limit") {
		return defaultLimit, nil
	}
	n, err := strconv.Atoi(q.Get("limit"))
	if err != nil || n < 1 || n > maxLimit {
		return 0, &fault{code: codeInvalidValue, param: "limit", message: "The limit must be from 1 to 100."}
	}
	return n, nil
}

// query reads the query string, which may have each known parameter once, and no other.
func query(r *http.Request, known ...string) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, &fault{code: codeUnknownParameter, message: "The query string is not valid: check its percent-encoding."}
	}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		values := q[name]
		listed := name
		if isMetadata(name) {
			listed, name = metadataEntries, "metadata"
		}
		if !isText(name) {
			return nil, &fault{code: codeUnknownParameter} // the name could be any text of the client, so the fault omits it
		}
		if !slices.Contains(known, listed) {
			return nil, &fault{code: codeUnknownParameter, param: name}
		}
		if len(values) > 1 {
			return nil, twiceFault(name)
		}
		if !isText(values[0]) {
			return nil, textFault(name)
		}
	}
	return q, nil
}

// twiceFault returns the fault of a parameter that was sent twice.
func twiceFault(name string) *fault {
	remedy := " Send it once."
	if name == expand {
		remedy = " Send it once, with commas between the names: expand=customer,token."
	}
	return &fault{code: codeInvalidValue, param: name, message: "The parameter was sent twice." + remedy}
}

// cursor reads an id, 0 when the parameter is absent.
func cursor(q url.Values, name string, p id.Prefix) (int64, error) {
	if !q.Has(name) {
		return 0, nil
	}
	n, err := id.ParseFilter(p, q.Get(name))
	if err != nil {
		return 0, &fault{code: codeInvalidCursor, param: name}
	}
	return n, nil
}

// showList returns the JSON of a page of a list. A page that would have more than maxPage bytes
// ends early: it has the items next to the cursor, and has_more is true. It always has the first of
// them.
func showList[Row, Item any](p payment.Page, found payment.List[Row], show func(Row) Item) []byte {
	const begin, end = `{"object":"list","data":[`, `],"has_more":`
	if p.Before != 0 {
		slices.Reverse(found.Rows) // the oldest row is next to the cursor
	}
	items, size := make([][]byte, 0, len(found.Rows)), len(begin)+len(end)+len("false}")
	for _, row := range found.Rows {
		shown := show(row)
		item := encode(&shown)
		size += len(item) + len(",")
		if size > maxPage && len(items) > 0 {
			found.More = true
			break
		}
		items = append(items, item)
	}
	if p.Before != 0 {
		slices.Reverse(items)
	}
	out := append([]byte(begin), bytes.Join(items, []byte(","))...)
	out = append(out, end...)
	return append(strconv.AppendBool(out, found.More), '}')
}
