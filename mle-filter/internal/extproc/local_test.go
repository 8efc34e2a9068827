package extproc_test

import (
	"testing"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
)

// TestLocalResponseBeforeBody has Envoy itself reject an encrypted request before its body. Without
// the body no key can be derived, so the response passes in the clear: core did not write it. It is
// encrypted if a key is registered.
func TestLocalResponseBeforeBody(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	client := dial(t, serve(t, processor(t, w.Engine(t), nil)))
	details, err := structpb.NewStruct(map[string]any{"response.code_details": "request_payload_too_large"})
	if err != nil {
		t.Fatal(err)
	}
	for name, caller := range map[string]string{"derived": enginetest.Keyless, "registered": enginetest.Merchant} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stream, err := client.Process(withLevels(t, "optional"))
			if err != nil {
				t.Fatal(err)
			}
			c := &call{stream: stream}
			r := requestOf(josed("", enginetest.Field{Name: "X-SVC-MLE-Response", Value: "required"},
				enginetest.Field{Name: callerField, Value: caller}))
			if _, err := c.process(requestMessages.head(&extprocv3.HttpHeaders{Headers: r.proto()})); err != nil {
				t.Fatal(err)
			}
			reply := messageOf(enginetest.Response{Status: 413, Body: "Payload Too Large"})
			head := responseMessages.head(&extprocv3.HttpHeaders{Headers: reply.proto()})
			head.Attributes = map[string]*structpb.Struct{"envoy.filters.http.ext_proc": details}
			if got, err := c.process(head); err != nil || got.GetResponseHeaders() == nil {
				t.Fatalf("head: got %v, %v", got, err)
			}
			got, err := c.process(responseMessages.body(&extprocv3.HttpBody{Body: []byte(reply.body), EndOfStream: true}))
			if err != nil || got.GetResponseBody() == nil ||
				change(reply, got.GetResponseBody().GetResponse(), false) != nil {
				t.Fatalf("body: got %v, %v", got, err)
			}
			text := reply.body
			if caller == enginetest.Merchant {
				_, text = w.ResponseKey.Decrypt(t, text)
			}
			if text != "Payload Too Large" {
				t.Errorf("got %q", text)
			}
		})
	}
}
