package extproc_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/causeway-pay/causeway/mle-filter/internal/engine"
	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/mle-filter/internal/extproc"
	"github.com/causeway-pay/causeway/shared/httpx"
)

// callerField holds the merchant of a request.
const callerField = "X-Caller"

func byField(_ context.Context, h http.Header) (string, *engine.Problem) {
	if h.Get(callerField) == "" {
		return enginetest.Merchant, nil
	}
	return h.Get(callerField), nil
}

// folder returns a directory with a short path, because the path of a socket must be short.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "x") //nolint:usetesting // t.TempDir's name is too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// withID gives requests an id, as the filter's middleware does.
func withID(h http.Handler) http.Handler {
	return httpx.RequestID(h)
}

func processor(t *testing.T, e *engine.Engine, change func(*extproc.Config)) *extproc.Processor {
	t.Helper()
	cfg := extproc.Config{Engine: e, Identify: byField, Around: withID}
	if change != nil {
		change(&cfg)
	}
	p, err := extproc.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// serve serves a processor and returns the path of its socket.
func serve(t *testing.T, p *extproc.Processor) string {
	t.Helper()
	path := filepath.Join(folder(t), "s")
	server, err := extproc.Listen(t.Context(), p, path, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return path
}

func dial(t *testing.T, path string) extprocv3.ExternalProcessorClient {
	t.Helper()
	conn, err := grpc.NewClient("unix:"+path, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(4<<20)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return extprocv3.NewExternalProcessorClient(conn)
}

// withLevels returns a context with levels of the route.
func withLevels(t *testing.T, level ...string) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	for _, l := range level {
		ctx = metadata.AppendToOutgoingContext(ctx, extproc.MetadataPolicy, l)
	}
	return ctx
}
