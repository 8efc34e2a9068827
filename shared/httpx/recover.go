package httpx

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/causeway-pay/causeway/shared/panics"
)

// Recover turns a panic into the response of onPanic if nothing was written yet. Otherwise it cuts
// the connection, so that no client treats half a response as complete. It logs only the panic's Go
// type and the functions on the stack, because values and arguments may contain card data.
// http.ErrAbortHandler passes through.
func Recover(onPanic func(w http.ResponseWriter, r *http.Request), log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec, ok := w.(*recorder)
		if !ok {
			rec = &recorder{ResponseWriter: w}
		}
		defer respondToPanic(rec, r, onPanic, log)
		next.ServeHTTP(rec, r)
	})
}

// respondToPanic is the deferred function itself, because recover works only there.
func respondToPanic(w *recorder, r *http.Request, onPanic func(http.ResponseWriter, *http.Request), log *slog.Logger) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
		panic(v)
	}
	logPanic(r, log, v)
	EventFrom(r.Context()).SetOutcome(outcomePanic)
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	forgetEntity(w.Header())
	onPanic(w, r)
}

// outcomePanic is the outcome of a request whose handler panicked.
const outcomePanic = "panic"

// forgetEntity removes the handler's header fields of the response that it did not write. A
// left-over length would cut ours.
func forgetEntity(h http.Header) {
	for _, name := range []string{"Content-Length", "Content-Type", "Content-Encoding", "Etag", "Location"} {
		h.Del(name)
	}
}

func logPanic(r *http.Request, log *slog.Logger, v any) {
	ctx := r.Context()
	log.LogAttrs(ctx, slog.LevelError, "panic",
		slog.String("request_id", RequestIDFrom(ctx)),
		slog.String("type", fmt.Sprintf("%T", v)),
		slog.Any("stack", panics.Stack(3)), // from the function that panicked
	)
}
