package crash

import (
	"net/http"
	"reflect"
	"strings"

	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// customersAreRight compares customers and their payment methods with the last responses on them.
func (j *judge) customersAreRight() error {
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
	return each(j.calls, func(c *Call) error {
		switch {
		case c.Kind == MethodAttach:
			return j.methodIsRight(c, deleted[c.On])
		case c.Kind != CustomerCreate:
			return nil
		}
		id := ""
		if c.ok() {
			id = c.Response.id()
		}
		if deleted[id] {
			return j.isGone("/v1/customers/" + id)
		}
		j.once(c, byReference[c.Marker])
		if id == "" {
			return nil
		}
		l := last[id]
		if l == nil {
			l = c
		}
		if attached[id] {
			return j.isLater("/v1/customers/"+id, l)
		}
		return j.isAs("/v1/customers/"+id, l)
	})
}

// methodIsRight compares a payment method with its response.
func (j *judge) methodIsRight(c *Call, customerDeleted bool) error {
	if customerDeleted {
		return nil
	}
	if c.maybe() {
		all, err := listOf[v1.PaymentMethod](j.ctx, j.h.api, "/v1/customers/"+c.On+"/payment_methods", "")
		if err == nil && len(all) > 1 {
			j.failf("%s %s had its effect %d times", c.Kind, c.Marker, len(all))
		}
		return err
	}
	if !c.ok() {
		return nil
	}
	path := "/v1/customers/" + c.On + "/payment_methods/" + c.Response.id()
	for _, other := range j.calls {
		if other.Kind == MethodDetach && other.On == c.Response.id() && other.Response != nil {
			return j.isGone(path)
		}
	}
	return j.isAs(path, c)
}

// isAs requires an object to equal the response to c, byte for byte.
func (j *judge) isAs(path string, c *Call) error {
	now, err := j.h.api.get(j.ctx, path, "")
	if err != nil {
		return err
	}
	if now.Status != http.StatusOK || strings.TrimSpace(now.Body) != strings.TrimSpace(c.Response.Body) {
		j.failf("%s %s was acknowledged as %s and is %d %s", c.Kind, c.Marker, c.Response.Body, now.Status, now.Body)
	}
	return nil
}

// isLater checks that a customer is as the response to c showed it, but for a later version:
// payment methods were attached or detached since.
func (j *judge) isLater(path string, c *Call) error {
	now, err := j.h.api.get(j.ctx, path, "")
	if err != nil {
		return err
	}
	is, was := read[v1.Customer](now), read[v1.Customer](c.Response)
	later := is.Version >= was.Version
	is.Version, is.UpdatedAt = was.Version, was.UpdatedAt
	if now.Status != http.StatusOK || !later || !reflect.DeepEqual(is, was) {
		j.failf("%s %s was acknowledged as %s and is %d %s", c.Kind, c.Marker, c.Response.Body, now.Status, now.Body)
	}
	return nil
}

func (j *judge) isGone(path string) error {
	now, err := j.h.api.get(j.ctx, path, "")
	if err != nil {
		return err
	}
	if now.Status != http.StatusNotFound {
		j.failf("%s was deleted and is %d %s", path, now.Status, now.Body)
	}
	return nil
}
