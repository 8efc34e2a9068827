package providerb

import (
	"net/http"
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

// operation is an operation of the dialect. The catalogue has four of them; clients call the others
// next.
type operation struct {
	name       string
	httpMethod string
	path       []string // below the mount path; "{id}" stands for one segment
	scopes     []string
	kind       command.Kind // of the command that has its effect; "" if it has none
	run        run
}

// run executes a call and returns its response.
type run func(*Handler, call) response

// operations are the served operations. They never change.
var operations = append([]operation{
	post(catalogue.CreatePayment, "payments", "payments:authorize", command.PaymentAuthorize, createPayment),
}, followUps...)

// find returns the operation of a request and the id in its escaped path. It ignores one slash at
// the end. It also ignores a second slash at the start, because some clients join the mount path
// and their own with one. Only an id may have escapes. The status is 200, 405 if the path exists
// with another method, and else 404.
func find(httpMethod, path string) (op operation, id string, status int) {
	path = strings.TrimPrefix(strings.TrimPrefix(path, "/"), "/")
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	status = http.StatusNotFound
	for _, op := range operations {
		id, same := op.match(segments)
		switch {
		case !same:
		case op.httpMethod == httpMethod:
			return op, id, http.StatusOK
		default:
			status = http.StatusMethodNotAllowed
		}
	}
	return operation{}, "", status
}

// route returns the operation's pattern for the log.
func (o operation) route(prefix string) string {
	return o.httpMethod + " " + prefix + "/" + strings.Join(o.path, "/")
}

// target returns the effect of a request, with the number in its path. It is the same at the paths
// of a payment and of a capture, where clients use the numbers of both.
func (o operation) target(id string) string {
	what := o.path[len(o.path)-1]
	if o.name == "voidRefund" || o.name == "voidCredit" {
		what = o.name
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

// missing returns the first required scope that is not granted; "" for none.
func (o operation) missing(granted []string) string {
	for _, s := range append(slices.Clone(o.scopes), catalogue.UseScope) {
		if !slices.Contains(granted, s) {
			return s
		}
	}
	return ""
}

// post returns an operation at a path of the payments API.
func post(name, path, scope string, kind command.Kind, do run) operation {
	return operation{
		name: name, httpMethod: http.MethodPost, path: strings.Split("pts/v2/"+path, "/"), scopes: []string{scope},
		kind: kind, run: do,
	}
}
