package shell

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
)

// Identify finds out whose a request is by its header. A problem, when it is nobody's, goes to the client as it is.
type Identify func(ctx context.Context, header http.Header) (merchant string, p *engine.Problem)

// Config is what every shell is made of. Engine and Identify are required.
type Config struct {
	Engine   *engine.Engine
	Identify Identify
	// Around is what every request of ours has around it: an id, an event, a span, a limit. Nil for nothing.
	Around func(http.Handler) http.Handler
	// Observe is told of each exchange that was encrypted or refused. Nil for nobody.
	Observe func(Exchange)
	Log     *slog.Logger // nil for none
}

// Exchange is what is counted of a request. Its words are ours.
type Exchange struct {
	Alg    engine.Alg // of the request's key; "" when it was in the clear, or not unwrapped
	Sealed bool       // the answer was asked for encrypted
	Status int        // of a refusal, else 0
	Code   string     // of a refusal, else ""
	Reason string     // of a refusal, else ""
}
