package providera

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/catalogue"
	"github.com/causeway-pay/causeway/compat-proxy/internal/command"
	"github.com/causeway-pay/causeway/compat-proxy/internal/credentials"
	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/httpx"
	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// Logins returns the grant of a legacy login.
type Logins interface {
	// ProviderA returns false for an unknown name, or a transaction key that is not the login's.
	ProviderA(ctx context.Context, name string, transactionKey secret.String) (credentials.Grant, bool)
	// LenientOrder reports whether the elements of a login's requests may come in any order.
	LenientOrder(name string) bool
}

// otherForms are the forms of login that are recognised and refused.
var otherForms = []struct {
	element string
	code    apiCode
}{
	{"accessToken", apiAccessToken},
	{"sessionToken", apiAuthForm},
	{"password", apiAuthForm},
	{"impersonationAuthentication", apiAuthForm},
	{"fingerPrint", apiAuthForm},
	{"clientKey", apiAuthForm},
}

// authenticate returns the API key of a request. A bearer key in the header takes precedence over
// the body. A transactionKey that is itself an API key needs no name.
func authenticate(
	ctx context.Context, logins Logins, header http.Header, auth wire.Node,
) (credentials.Grant, problem) {
	if bearer, ok := bearerKey(header); ok {
		return apiKeyGrant(bearer, header)
	}
	for _, form := range otherForms {
		if auth.Child(form.element).Present() {
			return credentials.Grant{}, refuse(form.code)
		}
	}
	name, key := auth.Get("name"), secret.New(auth.Get("transactionKey"))
	switch {
	case strings.HasPrefix(key.Reveal(), "sk_"):
		return apiKeyGrant(key, header)
	case name == "":
		return credentials.Grant{}, refuse(apiNoName)
	case key.IsZero():
		return credentials.Grant{}, refuse(apiNoKey)
	}
	granted, ok := logins.ProviderA(ctx, name, key)
	if !ok {
		return credentials.Grant{}, refuse(apiBadLogin)
	}
	return granted, problem{}
}

// attemptedSecret returns the secret with which a request tries to log in.
func attemptedSecret(header http.Header, auth wire.Node) secret.String {
	if bearer, ok := bearerKey(header); ok {
		return bearer
	}
	return secret.New(auth.Get("transactionKey"))
}

// bearerKey reads the Authorization header. It returns false if the scheme is not Bearer. Several
// headers give the empty key, which is refused: programs in front may have read another one.
func bearerKey(header http.Header) (secret.String, bool) {
	lines := header.Values("Authorization")
	key, ok := httpx.Bearer(lines)
	return secret.New(key), ok || len(lines) > 1
}

// secretInBrowser refuses a secret API key with an Origin header, which only browsers send.
var secretInBrowser = problem{
	API: apiAccessDenied, Text: "Access denied. " + v1.MessageSecretKeyInBrowser,
}

// encryptionRequired refuses a request in the clear of a merchant whose policy requires encryption.
var encryptionRequired = problem{API: apiAccessDenied, Text: "Access denied. " + v1.MessageLegacyMLE}

// apiKeyGrant returns the grant of an API key. It refuses a key of the wrong form, or from a web
// page. V1 checks the key itself, and the merchant's permissions.
func apiKeyGrant(key secret.String, header http.Header) (credentials.Grant, problem) {
	switch {
	case !credentials.IsAPIKey(key):
		return credentials.Grant{}, refuse(apiBadLogin)
	case len(header["Origin"]) > 0:
		return credentials.Grant{}, secretInBrowser
	}
	return credentials.Grant{APIKey: key, UnlinkedRefunds: true}, problem{}
}

// permit checks the method's scopes before anything is executed. It returns v1's record of the key.
func (h *Handler) permit(ctx context.Context, key secret.String, m catalogue.Method) (v1.APIKey, problem) {
	info, r := h.cfg.Identify(ctx, key)
	switch {
	case r.Outcome == command.Unavailable:
		return info, unavailable(r)
	case r.Code == v1.CodeMerchantDisabled:
		return info, refuse(apiInactive)
	case r.Code == v1.CodeAddressNotAllowed:
		return info, refuse(apiAccessDenied)
	case r.Code == v1.CodeMLERequired:
		return info, encryptionRequired
	case r.Outcome != command.Done:
		return info, refuse(apiBadLogin)
	}
	switch missing := m.Missing(info.Scopes); {
	case len(missing) == 0:
		return info, problem{}
	case missing[len(missing)-1] == catalogue.UseScope:
		return info, refuse(apiNotPermitted)
	case missing[0] == string(v1.ScopeTransactionsRead):
		return info, problem{API: apiAccessDenied, Text: detailsForbidden}
	default:
		return info, refuse(apiAccessDenied)
	}
}

// checkScopes refuses an unlinked refund by a key without its scope, so that nothing is sent to v1.
// The scopes of the method are enough for all other commands.
func checkScopes(c command.Command, scopes []string) problem {
	if _, unlinked := c.(command.Credit); unlinked {
		return requireScope(scopes, v1.ScopeRefundsCreate)
	}
	return problem{}
}

// requireScope refuses a request of a key without the scope.
func requireScope(granted []string, scope v1.Scope) problem {
	if !slices.Contains(granted, string(scope)) {
		return refuse(apiAccessDenied)
	}
	return problem{}
}
