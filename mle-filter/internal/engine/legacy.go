package engine

import (
	"net/url"
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/mle-filter/internal/jwe"
	"github.com/causeway-pay/causeway/shared/dropin"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// typesV1 and typesA are the media types of decrypted bodies. v1, provider-b and JSON-RPC have only
// JSON. provider-a has XML too.
var (
	typesV1 = []string{typeJSON}
	typesA  = []string{"application/xml", "text/xml", typeJSON}
)

// IsLegacy reports whether compat-proxy serves an escaped path: below /compat, or a provider's own.
// The same decision keeps the proof for core from compat-proxy, so route requests by it.
func IsLegacy(path string) bool { return legacyTypes(path) != nil }

// legacyTypes returns the media types of bodies on an escaped path of compat-proxy, or nil for
// another path. It decodes the path once, as compat-proxy does.
func legacyTypes(path string) []string {
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded
	}
	below := func(root string) bool { return strings.HasPrefix(path, root+"/") }
	switch {
	case below("/compat/provider-a"), path == dropin.PathA, below(dropin.PathA):
		return typesA
	case path == "/compat", below("/compat"), dropin.IsB(path):
		return typesV1
	default:
		return nil
	}
}

// hasLogin reports whether a request has an Authorization field, valid or not.
func hasLogin(f Fields) bool { return len(f.Values(fieldLogin)) > 0 }

// hasAPIKey reports whether a request has an API key as its only login. Other logins of legacy
// clients are their providers': in the body, a signature, or a JWT.
func hasAPIKey(f Fields) bool {
	key, ok := httpx.Bearer(f.Values(fieldLogin))
	// Envoy joins two logins by a comma, which no API key has.
	return ok && !strings.Contains(key, ",") && (strings.HasPrefix(key, "sk_") || strings.HasPrefix(key, "pk_"))
}

// publishable reports whether the request has a publishable key.
func (x *Exchange) publishable() bool {
	key, ok := httpx.Bearer(x.head.Fields.Values(fieldLogin))
	return ok && strings.HasPrefix(key, "pk_")
}

// rejectLogin rejects encryption with the login of a provider. The filter must find the merchant's
// key before it decrypts, and only an API key names the merchant.
func (x *Exchange) rejectLogin() *Problem {
	if !x.demand.any() {
		return nil
	}
	return problem(CodeNotSupported, "login",
		"Encryption on this endpoint needs Authorization: Bearer with an API key, which names the merchant. "+
			"Send a login of the provider without encryption.",
	).at("Authorization")
}

// judgeContentType sets the media type of the decrypted body. On v1 it is JSON. On an endpoint with
// several types the client must name one.
func (x *Exchange) judgeContentType(cty string) *Problem {
	types := x.types
	if types == nil {
		types = typesV1
	}
	if cty == "" && len(types) == 1 {
		cty = types[0]
	}
	if !slices.Contains(types, cty) {
		return failed(jwe.ReasonHeader, "The protected header's cty must name the media type of the body, here one of: "+
			strings.Join(types, ", ")+".")
	}
	x.contentType = cty
	return nil
}
