package crash

import (
	"cmp"
	"net/http"
	"reflect"
	"strings"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// customersAreRight compares customers and their payment methods with the last responses on them.
func (j *judge) customersAreRight() {
	byReference := map[string][]string{}
	for _, c := range j.customers {
		if c.Reference == nil {
			j.failf("%s has no reference: no request made it", c.ID)
			continue
		}
		byReference[*c.Reference] = append(byReference[*c.Reference], c.ID)
	}
	last, deleted, attached := map[string]*Call{}, map[string]bool{}, map[string]bool{}
	for _, c := range j.calls {
		switch {
		case c.Kind == CustomerUpdate && c.ok():
			last[c.On] = c
		case c.Kind == CustomerDelete && c.Response != nil:
			deleted[c.On] = true
		case c.Kind == MethodAttach:
			attached[c.On] = true
		}
	}
	ensure(each(j.calls, func(c *Call) {
		if c.Kind == MethodAttach {
			j.methodIsRight(c, deleted[c.On])
		}
		if c.Kind != CustomerCreate {
			return
		}
		id := ""
		if c.ok() {
			id = c.Response.id()
		}
		path := "/v1/customers/" + id
		if deleted[id] {
			j.isGone(path)
			return
		}
		j.once(c, byReference[c.Marker])
		switch l := cmp.Or(last[id], c); {
		case id == "":
		case attached[id]:
			j.isLater(path, l)
		default:
			j.isAs(path, l)
		}
	}))
}

// methodIsRight compares a payment method with its response.
func (j *judge) methodIsRight(c *Call, customerDeleted bool) {
	if customerDeleted {
		return
	}
	if c.maybe() {
		all := must(listOf[v1.PaymentMethod](j.ctx, j.h.api, "/v1/customers/"+c.On+"/payment_methods", ""))
		if len(all) > 1 {
			j.failf("%s %s had its effect %d times", c.Kind, c.Marker, len(all))
		}
		return
	}
	if !c.ok() {
		return
	}
	path := "/v1/customers/" + c.On + "/payment_methods/" + c.Response.id()
	for _, other := range j.calls {
		if other.Kind == MethodDetach && other.On == c.Response.id() && other.Response != nil {
			j.isGone(path)
			return
		}
	}
	j.isAs(path, c)
}

// isAs requires an object to equal the response to c, byte for byte.
func (j *judge) isAs(path string, c *Call) {
	now := must(j.h.api.get(j.ctx, path, ""))
	if now.Status != http.StatusOK || strings.TrimSpace(now.Body) != strings.TrimSpace(c.Response.Body) {
		j.failf("%s %s was acknowledged as %s and is %d %s", c.Kind, c.Marker, c.Response.Body, now.Status, now.Body)
	}
}

// isLater checks that a customer equals the response to c, except for a later version. Payment
// methods may have been attached or detached since.
func (j *judge) isLater(path string, c *Call) {
	now := must(j.h.api.get(j.ctx, path, ""))
	is, was := read[v1.Customer](now), read[v1.Customer](c.Response)
	later := is.Version >= was.Version
	is.Version, is.UpdatedAt = was.Version, was.UpdatedAt
	if now.Status != http.StatusOK || !later || !reflect.DeepEqual(is, was) {
		j.failf("%s %s was acknowledged as %s and is %d %s", c.Kind, c.Marker, c.Response.Body, now.Status, now.Body)
	}
}

func (j *judge) isGone(path string) {
	now := must(j.h.api.get(j.ctx, path, ""))
	if now.Status != http.StatusNotFound {
		j.failf("%s was deleted and is %d %s", path, now.Status, now.Body)
	}
}
