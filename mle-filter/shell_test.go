package mlefilter_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/causeway-pay/causeway/mle-filter/internal/extproc"
)

// TestShell checks that the shells for Envoy and HTTP share engine, keys and identities.
func TestShell(t *testing.T) {
	t.Parallel()
	f := open(t, nil)
	f.register(t)
	conn, end := f.behindEnvoy(t)
	for key, want := range map[string]string{apiKey: "x-svc-int-proof " + proof, "sk_test_2": `"status":401`} {
		got := judged(t, conn, "authorization", "Bearer "+key, "x-svc-mle-response", "required")
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
	unknown := judged(t, conn, "authorization", "Bearer sk_test_2", "x-svc-mle-response", "required")
	if !strings.Contains(unknown, "www-authenticate Bearer") {
		t.Errorf("an unknown key: got %s, want WWW-Authenticate", unknown)
	}
	keys := judged(t, conn, ":path", "/v1/mle/keys/current", "x-svc-mle-response", "required")
	if !strings.Contains(keys, "mle_not_supported") {
		t.Errorf("got %s, want the paths of the keys to take no encryption", keys)
	}
	end()
	rec := httptest.NewRecorder()
	f.Operations().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	metrics := rec.Body.String()
	for _, line := range []string{
		`causeway_mle_refusals_total{code="invalid_api_key",reason="refused"} 2`, `{code="mle_not_supported",reason="off"} 1`,
		`causeway_mle_request_seconds_count{route="GET /v1/transactions",status="401"} 2`,
		"causeway_mle_requests_in_flight 0",
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("got %s, want %s", metrics, line)
		}
	}
}

// behindEnvoy serves the shell for Envoy and connects to it. end stops it after its streams.
func (f *filter) behindEnvoy(t *testing.T) (conn *grpc.ClientConn, end func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "x") //nolint:usetesting // the name of a socket must not be long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	processor, err := extproc.New(f.Shell())
	if err != nil {
		t.Fatal(err)
	}
	server, err := extproc.Listen(t.Context(), processor, socket, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	conn, err = grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	return conn, func() {
		if err := errors.Join(conn.Close(), server.Stop(context.WithoutCancel(t.Context()))); err != nil {
			t.Error(err)
		}
	}
}

// judged sends the head of a GET with header fields: names and values alternate. It returns the
// decision.
func judged(t *testing.T, conn *grpc.ClientConn, pairs ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(t.Context(), "x-mle-policy", "optional"))
	defer cancel()
	stream, err := extprocv3.NewExternalProcessorClient(conn).Process(ctx)
	if err != nil {
		t.Fatal(err)
	}
	head := &corev3.HeaderMap{}
	// A later value replaces an earlier one.
	pairs = append([]string{":method", "GET", ":path", "/v1/transactions"}, pairs...)
	for i := 0; i < len(pairs); i += 2 {
		head.Headers = append(head.Headers, &corev3.HeaderValue{Key: pairs[i], RawValue: []byte(pairs[i+1])})
	}
	buffered := filterv3.ProcessingMode_BUFFERED
	err = stream.Send(&extprocv3.ProcessingRequest{
		ProtocolConfig: &extprocv3.ProtocolConfiguration{RequestBodyMode: buffered, ResponseBodyMode: buffered},
		Request: &extprocv3.ProcessingRequest_RequestHeaders{
			RequestHeaders: &extprocv3.HttpHeaders{Headers: head, EndOfStream: true},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	response, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	sets := response.GetRequestHeaders().GetResponse().GetHeaderMutation().GetSetHeaders()
	if refused := response.GetImmediateResponse(); refused != nil {
		out.Write(refused.GetBody())
		sets = refused.GetHeaders().GetSetHeaders()
	}
	for _, set := range sets {
		out.WriteString(set.GetHeader().GetKey() + " " + string(set.GetHeader().GetRawValue()) + "\n")
	}
	return out.String()
}
