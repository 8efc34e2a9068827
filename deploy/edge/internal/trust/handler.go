package trust

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/httpx"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// The error codes, as in v1.
const (
	codeRouteNotFound    = "route_not_found"
	codeMethodNotAllowed = "method_not_allowed"
	codeUnknownVersion   = "unknown_version"
	codeInternal         = "internal_error"
)

// codes maps each code to its type, status and message.
var codes = map[string]v1.Error{
	codeRouteNotFound:    {Type: v1.ErrorTypeInvalidRequestError, Status: 404, Message: v1.MessageNoRoute},
	codeMethodNotAllowed: {Type: v1.ErrorTypeInvalidRequestError, Status: 405, Message: v1.MessageNoMethod},
	codeUnknownVersion: {
		Type: v1.ErrorTypeInvalidRequestError, Status: 400, Param: new(v1.VersionField), Message: v1.MessageUnknownVersion,
	},
	codeInternal: {Type: v1.ErrorTypeAPIError, Status: 500, Message: v1.MessageInternal},
}

// routes returns the handler of the pages, with the middleware of all our services. root is the
// path of the trust URL. The number of requests under way is not limited: the pages are in memory,
// and clients that read slowly would use the limit up.
func (s *Publisher) routes(root string) http.Handler {
	shown := map[string]func() *page{
		pathTrust:                func() *page { return s.pages.Load().index },
		pathFingerprints:         func() *page { return s.pages.Load().fingerprints },
		pathTrust + calendarFile: func() *page { return s.pages.Load().calendar },
	}
	shown[strings.TrimSuffix(root, "/")+calendarFile] = shown[pathTrust+calendarFile]
	var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		find, ok := shown[r.URL.Path]
		if !ok {
			refuse(w, r, codeRouteNotFound)
			return
		}
		httpx.EventFrom(r.Context()).SetRoute(http.MethodGet + " " + r.URL.Path)
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, r, codeMethodNotAllowed)
			return
		}
		find().serve(w, r)
	})
	h = httpx.Versioned(refusing(codeUnknownVersion), httpx.Recover(refusing(codeInternal), s.cfg.Log, h))
	h = httpx.SecurityHeaders(h)
	return httpx.RequestID(httpx.Trace(s.cfg.Tracer, httpx.LogRequests(s.cfg.Log, s.cfg.Clock, h)))
}

// serve writes a page, or 304 if the client has it.
func (p *page) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", p.maxAge)
	h.Set("ETag", p.etag)
	if has(r.Header.Values("If-None-Match"), p.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", p.kind)
	h.Set("Content-Length", strconv.Itoa(len(p.body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(p.body) // the client is gone
	}
}

// has reports whether one of the tags is tag, by the weak comparison.
func has(lines []string, tag string) bool {
	for _, line := range lines {
		for one := range strings.SplitSeq(line, ",") {
			one = strings.TrimSpace(one)
			if one == "*" || strings.TrimPrefix(one, "W/") == tag {
				return true
			}
		}
	}
	return false
}

func refusing(code string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { refuse(w, r, code) }
}

// refuse writes the v1 error body.
func refuse(w http.ResponseWriter, r *http.Request, code string) {
	e := codes[code]
	e.Code, e.RequestID = code, httpx.RequestIDFrom(r.Context())
	body, err := json.Marshal(e.Body())
	if err != nil {
		body = nil // impossible
	}
	httpx.EventFrom(r.Context()).SetOutcome(code)
	h := w.Header()
	if e.Status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "1")
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(e.Status)
	_, _ = w.Write(body) // the client is gone
}
