package api

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/gorilla/mux"

	"github.com/causeway-pay/causeway/core/docs/guides"
	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/browser"
	"github.com/causeway-pay/causeway/core/internal/docs"
	"github.com/causeway-pay/causeway/shared/httpx"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// contentSecurity allows the page to load only its own style sheet and script, and to send no
// request.
const contentSecurity = "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// The paths of the contract. They need no key.
const (
	contractPath = "/v1/openapi.json"
	pagePath     = "/docs"
	stylePath    = "/docs/style.css"
	scriptPath   = "/docs/script.js"
)

// showContract registers the routes that show the contract, and returns their paths.
func (a *API) showContract(m *mux.Router) []string {
	scopes := map[string]string{}
	for _, r := range a.routes() {
		scopes[r.method+" "+r.path] = apikey.Grantable(r.scope)
	}
	d := docs.New(docs.Source{Contract: v1.OpenAPI(), Cards: a.Cards, Triggers: a.Triggers, Faults: faults(), Scopes: scopes})
	fixed := func(content []byte) func() ([]byte, error) { return func() ([]byte, error) { return content, nil } }
	pages := map[string]http.HandlerFunc{
		contractPath: a.document("application/json", d.Contract),
		pagePath:     a.document("text/html; charset=utf-8", d.Page),
		stylePath:    a.document("text/css; charset=utf-8", fixed(docs.Style)),
		scriptPath:   a.document("text/javascript; charset=utf-8", fixed(docs.Script)),
		browser.Path: a.pageScript(),
		"/":          redirectToPage,
		"/docs/":     redirectToPage,
	}
	for _, name := range guides.Names() {
		pages[docs.GuidePath+name] = a.document("text/html; charset=utf-8", func() ([]byte, error) { return d.Guide(name) })
	}
	for path, serve := range pages {
		m.Methods(http.MethodGet, http.MethodHead).Path(path).HandlerFunc(serve)
	}
	return slices.Sorted(maps.Keys(pages))
}

// redirectToPage redirects a request for the host name alone to the documentation.
func redirectToPage(w http.ResponseWriter, r *http.Request) {
	httpx.EventFrom(r.Context()).SetRoute(r.Method + " " + r.URL.Path)
	http.Redirect(w, r, pagePath, http.StatusTemporaryRedirect)
}

// pageScript serves the script for the pages of merchants. Browsers keep it for a year, and use it
// on pages of any origin that name its hash.
func (a *API) pageScript() http.HandlerFunc {
	serve := a.document("text/javascript; charset=utf-8", func() ([]byte, error) { return browser.Script, nil })
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(httpx.AllowOriginField, httpx.AllowOrigin)
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		serve(w, r)
	}
}

// document serves what content makes.
func (a *API) document(kind string, content func() ([]byte, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		httpx.EventFrom(r.Context()).SetRoute(r.Method + " " + r.URL.Path)
		body, err := content()
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Content-Security-Policy", contentSecurity)
		h.Set("Content-Length", strconv.Itoa(len(body)))
		if _, err := w.Write(body); err != nil {
			a.Log.DebugContext(r.Context(), "response not delivered", "error", err)
		}
	}
}

// faults is v1's part of the error table with the errors of programs in front, by status and code.
func faults() []docs.Fault {
	out := make([]docs.Fault, 0, len(codes))
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		if operators(code) {
			continue
		}
		e := codes[code]
		out = append(out, docs.Fault{Code: code, Type: string(e.kind), Status: e.status, Message: e.message})
	}
	for _, e := range v1.FrontErrors() {
		out = append(out, docs.Fault{Code: e.Code, Type: string(e.Type), Status: e.Status, Message: e.Message})
	}
	slices.SortStableFunc(out, func(a, b docs.Fault) int { return a.Status - b.Status })
	return out
}
