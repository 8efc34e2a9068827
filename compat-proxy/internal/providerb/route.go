package providerb

import (
	"net/url"
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
)

// segmentID is the path segment that stands for an id.
const segmentID = "{id}"

// voidTarget begins the target of each operation that voids a payment.
const voidTarget = "voids/"

// operation is a method of the catalogue that this dialect serves.
type operation struct {
	catalogue.Method

	path []string     // below the mount path; "{id}" stands for one segment
	kind command.Kind // of the command that has its effect; "" if it has none
	run  run
	// severalIDs is whether a login with SeveralIDs authenticates it at several ids.
	severalIDs bool
}

// run executes a call and returns its response.
type run func(*Handler, call) response

// runs are the functions of the operations, by the catalogue's names.
var runs = map[string]run{
	catalogue.CreatePayment:       createPayment,
	catalogue.CapturePayment:      capture,
	catalogue.ReversePayment:      reverse,
	catalogue.RefundPayment:       refund,
	catalogue.RefundCapture:       refund,
	catalogue.VoidPayment:         void,
	catalogue.VoidCapture:         void,
	catalogue.CreateCredit:        credit,
	catalogue.VoidRefund:          voidRefund,
	catalogue.VoidCredit:          voidRefund,
	catalogue.ReverseNamedPayment: reverseNamed,
	catalogue.VoidNamedPayment:    voidNamed,
	catalogue.GetTransaction:      details,
	catalogue.GetPayment:          details,
	catalogue.GetCapture:          details,
	catalogue.GetRefund:           details,
	catalogue.GetCredit:           details,
	catalogue.GetReversal:         details,
	catalogue.GetVoid:             details,
}

// operations are the served operations. They never change.
var operations = operationsOf(catalogue.Methods())

// operationsOf returns the operations of this dialect.
func operationsOf(methods []catalogue.Method) []operation {
	var all []operation
	for _, m := range methods {
		if m.Provider != catalogue.ProviderB {
			continue
		}
		op := operation{
			Method: m, path: strings.Split(strings.TrimPrefix(m.Path, catalogue.PrefixB+"/"), "/"), run: runs[m.Name],
			// A client may capture several payments with equal bodies in one second. The holder of a
			// recorded token can then do so too, with the same amount. Any other change stays bound to one
			// id: refunds pay money out, and the body of a void limits no amount.
			severalIDs: m.Name == catalogue.CapturePayment,
		}
		if m.SideEffect == catalogue.MoneyMovement {
			op.kind = command.Kind(m.MapsTo[0])
		}
		all = append(all, op)
	}
	return all
}

// find returns the operation of a request and the id in its escaped path. It ignores one slash at
// the end. It also ignores a second slash at the start, because some clients join the mount path
// and their own with one. Only an id may have escapes. If there is none, allow names the methods of
// the path, "" for an unknown path.
func find(httpMethod, path string) (op operation, id, allow string, found bool) {
	path = strings.TrimPrefix(strings.TrimPrefix(path, "/"), "/")
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	var methods []string
	for _, op := range operations {
		id, same := op.match(segments)
		switch {
		case !same:
		case op.HTTPMethod == httpMethod:
			return op, id, "", true
		default:
			methods = append(methods, op.HTTPMethod)
		}
	}
	slices.Sort(methods)
	return operation{}, "", strings.Join(slices.Compact(methods), ", "), false
}

// route returns the operation's pattern for the log.
func (o operation) route(prefix string) string {
	return o.HTTPMethod + " " + prefix + "/" + strings.Join(o.path, "/")
}

// target returns the effect of a request, with the number in its path. It is the same at the paths
// of a payment and of a capture, where clients use the numbers of both.
func (o operation) target(id string) string {
	what := o.path[len(o.path)-1]
	if o.Name == catalogue.VoidRefund || o.Name == catalogue.VoidCredit {
		what = o.Name
	}
	return what + "/" + id
}

// match reports whether the path is the operation's. It returns the id in the path.
func (o operation) match(segments []string) (id string, same bool) {
	if len(segments) != len(o.path) {
		return "", false
	}
	for i, want := range o.path {
		switch {
		case want == segmentID:
			if id = unescaped(segments[i]); id == "" {
				return "", false
			}
		case want != segments[i]:
			return "", false
		}
	}
	return id, true
}

// unescaped returns the id of a path segment; "" if it is invalid.
func unescaped(segment string) string {
	id, err := url.PathUnescape(segment)
	if err != nil || id == "." || id == ".." || strings.Contains(id, "/") {
		return ""
	}
	return id
}
