package extproc_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/mle-filter/internal/extproc"
)

// TestLeave checks that the server reports to Envoy's health checks that it will stop, and still
// serves requests.
func TestLeave(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	path := filepath.Join(folder(t), "s")
	server, err := extproc.Listen(t.Context(), processor(t, w.Engine(t), nil), path, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient("unix:"+path, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	is := func(want healthv1.HealthCheckResponse_ServingStatus) {
		t.Helper()
		got, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
		if err != nil || got.GetStatus() != want {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	is(healthv1.HealthCheckResponse_SERVING)
	server.Leave()
	is(healthv1.HealthCheckResponse_NOT_SERVING)
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if err := server.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}
