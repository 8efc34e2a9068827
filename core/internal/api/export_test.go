package api

import (
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/causeway-pay/causeway/core/internal/browser"
	"github.com/causeway-pay/causeway/core/internal/payment"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// CodeEntry is a line of the table of codes, for the test that walks it.
type CodeEntry struct {
	Type    v1.ErrorType
	Status  int
	Message string
}

// Codes returns the whole table.
func Codes() map[string]CodeEntry {
	out := map[string]CodeEntry{}
	for code, e := range codes {
		out[code] = CodeEntry{e.kind, e.status, e.message}
	}
	return out
}

// Routes returns all routes, as "METHOD path".
func Routes() []string {
	out := []string{http.MethodGet + " /v1/health", http.MethodGet + " " + contractPath, http.MethodGet + " " + browser.Path}
	for _, r := range (&API{}).routes() {
		out = append(out, r.method+" "+r.path)
	}
	return out
}

// OperatorChanges returns the changing routes of the operator's API, as "METHOD path".
func OperatorChanges() []string {
	var out []string
	for _, r := range (&Operator{}).routes() {
		if r.action != "" {
			out = append(out, r.method+" "+r.path)
		}
	}
	return out
}

// FaultCode returns the code of the response to an error.
func FaultCode(err error) string { return faultOf(err).code }

// RetryAfter returns the table of waits.
func RetryAfter() map[string]int { return retryAfter }

// Refused returns the header of the refusal with a code.
func Refused(code string) http.Header {
	w := httptest.NewRecorder()
	(&API{}).refuse(w, new(http.Request), &fault{code: code})
	return w.Header()
}

// RouteEntry is a line of the route table.
type RouteEntry struct{ Method, Path, Scope string }

// RouteTable returns all of it.
func RouteTable() []RouteEntry {
	var out []RouteEntry
	for _, r := range (&API{}).routes() {
		out = append(out, RouteEntry{r.method, r.path, r.scope})
	}
	return out
}

// Refuses reports whether a core whose clock is so far ahead refuses a request.
func Refuses(method, route string, ahead time.Duration) bool {
	a := &API{Config: Config{ClockOffset: func() (time.Duration, bool) { return ahead, false }}}
	return a.clockFault(method, route) != nil
}

// DateBehind returns how far Date is behind the clock of a core that is so far ahead of the store's
// server. It fails if it reads the guard of the store, because there is none.
func DateBehind(ahead time.Duration) time.Duration {
	a := &API{Config: Config{ClockOffset: func() (time.Duration, bool) { return ahead, false }}}
	return a.dateBehind()
}

// ShowList returns a page of texts that has no more rows.
func ShowList(p payment.Page, rows []string) []byte {
	return showList(p, payment.List[string]{Rows: rows}, func(row string) string { return row })
}
