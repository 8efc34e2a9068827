package shell

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
)

// Identify finds the merchant of a request by its header. If there is none, the problem goes to the
// client as it is.
type Identify func(ctx context.Context, header http.Header) (merchant string, p *engine.Problem)

// Config is what every shell is made of. Engine and Identify are required.
type Config struct {
	Engine   *engine.Engine
	Identify Identify
	// Around is what every request of ours has around it: an id, an event, a span, a limit. Nil for
	// nothing.
	Around func(http.Handler) http.Handler
	// Observe is called for each exchange that was encrypted or refused. It may be nil.
	Observe func(Exchange)
	Log     *slog.Logger // nil for none
}

// Exchange is the counted data of a request. Its words are ours.
type Exchange struct {
	Alg    engine.Alg // of the request's key; "" when it was in the clear, or not unwrapped
	Sealed bool       // the request demanded an encrypted response
	Status int        // of a refusal, else 0
	Code   string     // of a refusal, else ""
	Reason string     // of a refusal, else ""
}
