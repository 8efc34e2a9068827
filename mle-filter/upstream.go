package mlefilter

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/httphop"
	"github.com/causeway-pay/causeway/mle-filter/internal/shell"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// connect prepares the transport to core, and returns its URL, or nil for a core in this process.
func (f *Filter) connect() (*url.URL, error) {
	if f.cfg.Core != nil {
		if f.cfg.V1 != "" {
			return nil, errTwo
		}
		f.cfg.V1, f.cfg.Transport = "http://core", httphop.InProcess(f.cfg.Core)
		f.reach = f.proven(f.cfg.Transport)
		return nil, nil
	}
	u, err := baseURL(f.cfg.V1)
	if err != nil {
		return nil, fmt.Errorf("v1: %w", err)
	}
	if f.cfg.Transport == nil {
		own := httphop.NewTransport(nil)
		f.cfg.Transport, f.idle = own, own.CloseIdleConnections
	}
	f.cfg.Transport = httpx.Traced(f.cfg.Tracer, shell.Template, f.cfg.Transport)
	f.reach = f.proven(f.cfg.Transport)
	return u, nil
}

// proven returns the transport of the filter's own requests to core.
func (f *Filter) proven(next http.RoundTripper) http.RoundTripper {
	if f.cfg.Secret.IsZero() && f.cfg.Hop.IsZero() {
		return next
	}
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context()) // a transport must not change its argument
		if !f.cfg.Secret.IsZero() {
			r.Header.Set(engine.FieldProof, f.cfg.Secret.Reveal())
		}
		httpx.ForwardClientAddress(r.Context(), f.cfg.Hop, r.Header) //nolint:contextcheck // the request's
		return next.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// baseURL parses the URL of a program behind the filter.
func baseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || (u.Path != "" && u.Path != "/") {
		return nil, errURL
	}
	return u, nil
}
