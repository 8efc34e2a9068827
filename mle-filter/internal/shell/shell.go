package shell

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
)

// Identify returns the merchant of a request with this header, or a problem that goes to the client
// unchanged.
type Identify func(ctx context.Context, header http.Header) (merchant string, p *engine.Problem)

// Config holds the parts of every shell. Engine and Identify are required.
type Config struct {
	Engine   *engine.Engine
	Identify Identify
	// Around adds the middleware of every request: an id, an event, a span, a limit. Nil for none.
	Around func(http.Handler) http.Handler
	// Observe is called for each encrypted or rejected exchange. It may be nil.
	Observe func(Exchange)
	Log     *slog.Logger // nil for none
}

// Exchange is the counted data of a request. It contains no input of the client.
type Exchange struct {
	Alg           engine.Alg // of the request's key; "" if the body was not decrypted
	WrapsResponse bool       // the request demanded an encrypted response
	Status        int        // of a rejection, else 0
	Code          string     // of a rejection, else ""
	Reason        string     // of a rejection, else ""
}
