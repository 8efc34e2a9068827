package executor_test

import (
	"cmp"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/clock"
	"github.com/causeway-pay/causeway/shared/id"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// customerV1 stores customers, tokens and Idempotency-Keys as v1 does.
type customerV1 struct {
	clock *clock.Fake

	mu        sync.Mutex
	last      int64                         // guarded by mu
	customers map[string]*v1.Customer       // guarded by mu
	methods   map[string][]v1.PaymentMethod // guarded by mu
	tokens    map[string]string             // guarded by mu: token to card number; "" once used
	keys      map[string]storedResponse     // guarded by mu
	refused   map[string]string             // card number, or method on a customer, to code; guarded by mu
	calls     int                           // guarded by mu
}

// tooManyAddresses is v1's refusal of one more shipping address. V1 keeps it under the key.
const tooManyAddresses = v1.CodeTooManyAddresses

type storedResponse struct {
	body     string
	status   int
	response string
}

func (f *customerV1) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	w.Header().Set("Date", f.clock.Now().UTC().Format(http.TimeFormat))
	f.calls++
	key := r.Header.Get("Idempotency-Key")
	if kept, used := f.keys[key]; used && key != "" {
		if kept.body != string(body) {
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, refusal(v1.CodeKeyReused))
			return
		}
		w.Header().Set("Idempotent-Replayed", "true")
		w.WriteHeader(kept.status)
		_, _ = io.WriteString(w, kept.response)
		return
	}
	status, response := f.response(r, body)
	kept := strings.Contains(response, v1.CodeTokenUsed) || strings.Contains(response, tooManyAddresses)
	if key != "" && (status/100 == 2 || kept) {
		f.keys[key] = storedResponse{string(body), status, response}
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, response)
}

// response executes the request. The caller holds mu.
func (f *customerV1) response(r *http.Request, body []byte) (int, string) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
	if len(parts) > 2 && parts[2] == "shipping_addresses" {
		return f.shippingAddress(r.Method, parts, body)
	}
	switch route := r.Method + " " + parts[0] + strings.Repeat("/", len(parts)-1); route {
	case "GET idempotency_keys/":
		kept, used := f.keys[parts[1]]
		if !used {
			return http.StatusNotFound, refusal("not_found")
		}
		var made struct {
			ID string `json:"id"`
		}
		mustRead([]byte(kept.response), &made)
		return http.StatusOK, mustJSON(v1.IdempotencyKeyRecord{
			Key: parts[1], HTTPStatus: &kept.status, Resource: &made.ID, CreatedAt: v1.Time{Time: f.clock.Now()},
		})
	case "POST idempotency_keys":
		return http.StatusCreated, "{}"
	case "GET customers":
		return http.StatusOK, f.list(r)
	case "POST customers":
		c := f.customer(body)
		f.customers[c.ID] = c
		return http.StatusCreated, mustJSON(c)
	case "POST tokens":
		return f.token(body)
	case "GET customers//":
		return f.listMethods(parts[1], r)
	case "PATCH customers///":
		return f.changeMethod(parts[1], parts[3], body)
	case "DELETE customers///":
		kept := slices.DeleteFunc(f.methods[parts[1]], func(m v1.PaymentMethod) bool { return m.ID == parts[3] })
		if len(kept) == len(f.methods[parts[1]]) {
			return http.StatusNotFound, refusal("not_found")
		}
		f.methods[parts[1]] = kept
		return http.StatusOK, mustJSON(v1.Deleted{ID: parts[3], Deleted: true})
	case "GET customers/", "PATCH customers/", "DELETE customers/", "POST customers//":
		c, there := f.customers[parts[1]]
		if !there {
			return http.StatusNotFound, refusal("not_found")
		}
		if expected := r.URL.Query().Get("expected_version"); expected != "" && expected != strconv.FormatInt(c.Version, 10) {
			return http.StatusConflict, refusal(v1.CodeVersionConflict)
		}
		return f.one(r.Method, c, body)
	}
	return http.StatusTeapot, refusal("no_such_route")
}

// shippingAddress executes a request about shipping addresses. The caller holds mu.
func (f *customerV1) shippingAddress(method string, path []string, body []byte) (int, string) {
	if method != http.MethodPost {
		return f.changeAddress(path[1], path[3], method, body)
	}
	c, there := f.customers[path[1]]
	if !there {
		return http.StatusNotFound, refusal("not_found")
	}
	return f.addAddress(c, body)
}

// addAddress gives a customer one of at most three shipping addresses. The caller holds mu.
func (f *customerV1) addAddress(c *v1.Customer, body []byte) (int, string) {
	if c.ShippingAddresses == nil {
		c.ShippingAddresses = new([]v1.ShippingAddress)
	}
	if len(*c.ShippingAddresses) == 3 {
		return http.StatusConflict, refusal(tooManyAddresses)
	}
	var a v1.ShippingAddress
	mustRead(body, &a)
	a.ID = id.Format(id.ShippingAddress, f.next())
	list := append(slices.Clone(*c.ShippingAddresses), a)
	c.ShippingAddresses, c.Version = &list, c.Version+1
	return http.StatusCreated, mustJSON(a)
}

// changeAddress changes or deletes a shipping address. The caller holds mu.
func (f *customerV1) changeAddress(customer, address, method string, body []byte) (int, string) {
	c := f.customers[customer]
	if c == nil || c.ShippingAddresses == nil {
		return http.StatusNotFound, refusal("not_found")
	}
	list := slices.Clone(*c.ShippingAddresses)
	i := slices.IndexFunc(list, func(a v1.ShippingAddress) bool { return a.ID == address })
	if i < 0 {
		return http.StatusNotFound, refusal("not_found")
	}
	c.ShippingAddresses = &list
	if method == http.MethodDelete {
		list = slices.Delete(list, i, i+1)
		return http.StatusOK, mustJSON(v1.Deleted{ID: address, Deleted: true})
	}
	mustRead(body, &list[i]) // an empty text stays one, which no test compares with an absent field
	return http.StatusOK, mustJSON(list[i])
}

// next returns a new number. The caller holds mu.
func (f *customerV1) next() int64 { f.last++; return f.last }

func (f *customerV1) customer(body []byte) *v1.Customer {
	var c v1.Customer
	mustRead(body, &c)
	c.ID, c.Version, c.CreatedAt = id.Format(id.Customer, f.next()), 1, v1.Time{Time: f.clock.Now()}
	return &c
}

func (f *customerV1) list(r *http.Request) string {
	q := r.URL.Query()
	page := v1.CustomerList{Data: []v1.Customer{}}
	for _, c := range f.customers {
		fits := (!q.Has("reference") || c.Reference != nil && *c.Reference == q.Get("reference")) &&
			(!q.Has("email") || c.Email != nil && *c.Email == q.Get("email"))
		if fits {
			page.Data = append(page.Data, *c)
		}
	}
	slices.SortFunc(page.Data, func(a, b v1.Customer) int { return strings.Compare(b.ID, a.ID) })
	for i := range page.Data {
		if page.Data[i].ID == q.Get("starting_after") {
			page.Data = page.Data[i+1:]
			break
		}
	}
	if len(page.Data) > 1 {
		page.Data, page.HasMore = page.Data[:1], true // small pages, so that a list has several
	}
	return mustJSON(page)
}

// listMethods lists the payment methods of a customer, on small pages as in list.
func (f *customerV1) listMethods(customer string, r *http.Request) (int, string) {
	if f.customers[customer] == nil {
		return http.StatusNotFound, refusal("not_found")
	}
	page := v1.PaymentMethodList{Data: slices.Clone(f.methods[customer])}
	slices.Reverse(page.Data)
	if after := r.URL.Query().Get("starting_after"); after != "" {
		i := slices.IndexFunc(page.Data, func(m v1.PaymentMethod) bool { return m.ID == after })
		page.Data = page.Data[i+1:]
	}
	if len(page.Data) > 1 {
		page.Data, page.HasMore = page.Data[:1], true
	}
	return http.StatusOK, mustJSON(page)
}

func (f *customerV1) changeMethod(customer, method string, body []byte) (int, string) {
	i := slices.IndexFunc(f.methods[customer], func(m v1.PaymentMethod) bool { return m.ID == method })
	if i < 0 {
		return http.StatusNotFound, refusal("not_found")
	}
	var in v1.PaymentMethodUpdate
	mustRead(body, &in)
	m := &f.methods[customer][i]
	if in.Token != nil {
		number := f.tokens[*in.Token]
		if number == "" {
			return http.StatusBadRequest, refusal("token_used")
		}
		f.tokens[*in.Token] = ""
		m.Metadata, m.Card = v1.Metadata{"number": number}, &v1.Card{Fingerprint: number}
	}
	if m.Billing = cmp.Or(in.Billing, m.Billing); in.Billing != nil && *in.Billing == (v1.Contact{}) {
		m.Billing = nil
	}
	return http.StatusOK, mustJSON(m)
}

func (f *customerV1) token(body []byte) (int, string) {
	var in struct {
		Card struct {
			Number string `json:"number"`
		} `json:"card"`
	}
	mustRead(body, &in)
	if code := f.refused[in.Card.Number]; code != "" {
		return http.StatusBadRequest, refusal(code)
	}
	name := id.Format(id.Token, f.next())
	value := secret.New(name + "_value")
	f.tokens[value.Reveal()] = in.Card.Number
	return http.StatusCreated, mustJSON(v1.Token{ID: name, Value: &value, Card: &v1.Card{Fingerprint: in.Card.Number}})
}

func (f *customerV1) one(method string, c *v1.Customer, body []byte) (int, string) {
	if code := f.refused[method]; code != "" {
		return http.StatusBadRequest, refusal(code)
	}
	switch method {
	case http.MethodDelete:
		delete(f.customers, c.ID)
		return http.StatusOK, mustJSON(v1.Deleted{ID: c.ID, Deleted: true})
	case http.MethodPatch:
		was := *c
		was.Version++
		was.Metadata = maps.Clone(c.Metadata)
		mustRead(body, &was) // into the map, so other entries stay
		maps.DeleteFunc(was.Metadata, func(_, value string) bool { return value == "" })
		*c = was
	case http.MethodPost:
		var in v1.PaymentMethodCreate
		mustRead(body, &in)
		number := f.tokens[in.Token]
		if number == "" {
			return http.StatusBadRequest, refusal("token_used")
		}
		f.tokens[in.Token] = ""
		m := v1.PaymentMethod{
			ID: id.Format(id.PaymentMethod, f.next()), Customer: c.ID,
			Metadata: v1.Metadata{"number": number}, Card: &v1.Card{Fingerprint: number}, Billing: in.Billing,
		}
		f.methods[c.ID] = append(f.methods[c.ID], m)
		c.Version++
		return http.StatusCreated, mustJSON(m)
	}
	return http.StatusOK, mustJSON(c)
}

// forget advances the clock beyond a day, after which v1 keeps no keys.
func (f *customerV1) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock.Advance(25 * time.Hour)
	f.keys = map[string]storedResponse{}
}

// total returns the number of calls.
func (f *customerV1) total() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// incomplete returns a customer that is not complete.
func (f *customerV1) incomplete() *v1.Customer {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.customers {
		if c.Metadata["setup"] != "" {
			return c
		}
	}
	return &v1.Customer{}
}

// kept returns the stored customers and the numbers of their cards.
func (f *customerV1) kept() (customers []v1.Customer, numbers []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.customers {
		customers = append(customers, *c)
		for _, m := range f.methods[c.ID] {
			numbers = append(numbers, m.Metadata["number"])
		}
	}
	return customers, numbers
}

func mustJSON(v any) string {
	b, err := v1.MarshalRevealed(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func mustRead(body []byte, v any) {
	if err := json.Unmarshal(body, v); err != nil {
		panic(err)
	}
}
