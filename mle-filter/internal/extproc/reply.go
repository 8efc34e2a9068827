package extproc

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
)

// reply is the http.ResponseWriter of a stream's request, for the middleware. A response that the
// filter writes goes to Envoy instead of core's. Of core's response, it only counts the bytes.
type reply struct {
	header   http.Header
	status   int
	body     []byte
	fromCore bool // the response is core's
	code     string
}

func (w *reply) Header() http.Header { return w.header }

func (w *reply) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *reply) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if !w.fromCore {
		w.body = append(w.body, b...)
	}
	return len(b), nil
}

// immediate returns the message that makes Envoy send the written response, or nil if none was
// written.
func (w *reply) immediate() *extprocv3.ProcessingResponse {
	if w.fromCore || w.status == 0 {
		return nil
	}
	var ops []engine.HeaderOp
	for _, name := range slices.Sorted(maps.Keys(w.header)) {
		ops = append(ops, engine.Set(strings.ToLower(name), strings.Join(w.header[name], ", ")))
	}
	return &extprocv3.ProcessingResponse{Response: &extprocv3.ProcessingResponse_ImmediateResponse{
		ImmediateResponse: &extprocv3.ImmediateResponse{
			Status:  &typev3.HttpStatus{Code: typev3.StatusCode(w.status)}, //nolint:gosec // a status of HTTP fits
			Headers: mutation(ops), Body: w.body, Details: w.code,
		},
	}}
}
