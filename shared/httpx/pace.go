package httpx

import (
	"net/http"
	"time"

	"github.com/causeway-pay/causeway/shared/clock"
)

const (
	// pacePart is how many bytes of a response are written with one deadline. The system takes a
	// shorter response at once.
	pacePart = 32 << 10
	// A client gets paceGrace to take a response, and a second for each paceRate bytes, at most
	// paceMost. The request keeps its response in memory meanwhile.
	paceGrace = 5 * time.Second
	paceRate  = 8 << 10
	paceMost  = 60 * time.Second
)

// pace cuts the responses of next to a client that takes them too slowly.
func pace(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&pacedWriter{ResponseWriter: w}, r)
	})
}

// pacedWriter measures only the time in which it waits for the client. The handler may take longer.
type pacedWriter struct {
	http.ResponseWriter
	written int64
	waited  time.Duration
}

// Unwrap is for http.ResponseController.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *pacedWriter) Write(b []byte) (int, error) {
	if w.written+int64(len(b)) <= pacePart {
		n, err := w.ResponseWriter.Write(b)
		w.written += int64(n)
		return n, err
	}
	for done := 0; ; {
		n, err := w.writePart(b[done:min(len(b), done+pacePart)])
		if done += n; err != nil || done == len(b) {
			return done, err
		}
	}
}

func (w *pacedWriter) writePart(b []byte) (int, error) {
	allowed := min(paceGrace+time.Duration(w.written)*time.Second/paceRate, paceMost)
	// It fails for a response in memory, which waits for no client.
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(clock.System().Now().Add(allowed - w.waited))
	began := clock.Monotonic()
	n, err := w.ResponseWriter.Write(b)
	w.written += int64(n)
	w.waited += clock.Monotonic() - began
	return n, err
}
