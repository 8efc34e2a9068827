package api

import (
	"errors"
	"net/http"

	"github.com/causeway-pay/causeway/core/internal/apikey"
	"github.com/causeway-pay/causeway/core/internal/browser"
	"github.com/causeway-pay/causeway/core/internal/payment"
	"github.com/causeway-pay/causeway/shared/admission"
	"github.com/causeway-pay/causeway/shared/id"
)

// memory bounds the memory for the bodies of requests and for long responses. Deployments limit
// core to 512 MB.
const memory = 192 << 20

// admit bounds the requests of v1. Health has no limit: a full service is still alive, and an
// orchestrator would restart it after a refused probe. The contract has none either: it needs no
// work, and slow clients without a key would hold slots.
func (a *API) admit(all http.Handler) http.Handler {
	limiter := admission.New(admission.Config{Slots: a.Concurrent, Memory: memory, Grace: a.BodyGrace})
	limited := limiter.Handler(a.refusing(codeOverloaded), all)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case healthPath, contractPath, pagePath, stylePath, scriptPath, browser.Path:
			all.ServeHTTP(w, r)
		default:
			limited.ServeHTTP(w, r)
		}
	})
}

// refusing returns a handler that refuses each request with code.
func (a *API) refusing(code string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.refuse(w, r, &fault{code: code}) })
}

// admissionFault returns the refusal of a body, a key, a read, a list or a change over its bound.
// It returns nil for another error.
func admissionFault(err error) *fault {
	for _, known := range []struct {
		err         error
		code, param string
	}{
		{admission.ErrTooLarge, codeBodyTooLarge, ""},
		{admission.ErrEncoding, codeUnsupportedMediaType, "Content-Encoding"},
		{admission.ErrSlow, codeBodyTooSlow, ""},
		{admission.ErrUnfinished, codeUnfinishedBodies, ""},
		{admission.ErrTooMany, codeRateLimited, ""},
		{admission.ErrOverloaded, codeOverloaded, ""},
		{payment.ErrTooManyKeys, codeTooManyKeys, ""},
		{payment.ErrTooManyReads, codeRateLimited, ""},
		{payment.ErrTooManyLists, codeTooManyLists, ""},
		{payment.ErrTooManyChanges, codeTooManyChanges, ""},
		{payment.ErrListTimeout, codeListTimeout, ""},
	} {
		if errors.Is(err, known.err) {
			return &fault{code: known.code, param: known.param, cause: err}
		}
	}
	return nil
}

// identify makes an authenticated request and its body count towards its key and its merchant.
func identify(r *http.Request, k *payment.APIKey) error {
	return admission.Identify(r.Context(), admission.Identity{
		Key: id.Format(id.APIKey, k.ID), Merchant: id.Format(id.Merchant, k.Tenant.Merchant) + "/" + string(mode(k.Tenant)),
		Live: k.Tenant.Live, Public: k.Kind == string(apikey.Publishable),
	})
}
