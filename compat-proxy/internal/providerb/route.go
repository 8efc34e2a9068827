package providerb

import (
	"net/http"
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
)

// segmentID is the segment of a path that an id takes.
const segmentID = "{id}"

// operation is one thing the dialect can be asked for. Those beside the catalogue's four are what clients call next.
type operation struct {
	name       string
	httpMethod string
	path       []string // under the mount; "{id}" stands for one segment
	scopes     []string
	run        run
}

// run executes a call and returns its answer.
type run func(*Handler, call) answer

// operations is the table of what is served. Nothing changes it.
var operations = append([]operation{
	post(catalogue.CreatePayment, "payments", "payments:authorize", createPayment),
}, follows...)

// find returns the operation of a request and the id in its path. A slash at the end makes no difference. The status is 200, 405 when the
// path is one of ours and the method is not, and else 404.
func find(httpMethod, path string) (op operation, id string, status int) {
	segments := strings.Split(strings.Trim(path, "/"), "/")
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

// route is the operation's pattern for the log.
func (o operation) route(prefix string) string {
	return o.httpMethod + " " + prefix + "/" + strings.Join(o.path, "/")
}

// match reports whether the path is the operation's, with the id in it.
func (o operation) match(segments []string) (id string, same bool) {
	if len(segments) != len(o.path) {
		return "", false
	}
	for i, want := range o.path {
		switch {
		case want == segmentID:
			id = segments[i]
		case want != segments[i]:
			return "", false
		}
	}
	return id, true
}

// missing returns the first scope that the operation needs and granted has not; "" for none.
func (o operation) missing(granted []string) string {
	for _, s := range append(slices.Clone(o.scopes), catalogue.UseScope) {
		if !slices.Contains(granted, s) {
			return s
		}
	}
	return ""
}

// post is an operation at a path of the payments API.
func post(name, path, scope string, do run) operation {
	return operation{
		name: name, httpMethod: http.MethodPost, path: strings.Split("pts/v2/"+path, "/"), scopes: []string{scope}, run: do,
	}
}
