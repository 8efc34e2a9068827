package extproc_test

import (
	"context"
	"io"
	"testing"

	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/mle-filter/internal/extproc"
)

// script is a stream with a fixed list of messages.
type script struct {
	grpc.ServerStream
	ctx       context.Context //nolint:containedctx // each stream has one
	sent      []*extprocv3.ProcessingRequest
	read      int
	responses []*extprocv3.ProcessingResponse
}

func (s *script) Context() context.Context { return s.ctx }

func (s *script) Recv() (*extprocv3.ProcessingRequest, error) {
	if s.read == len(s.sent) {
		return nil, io.EOF
	}
	s.read++
	return s.sent[s.read-1], nil
}

func (s *script) Send(r *extprocv3.ProcessingResponse) error {
	s.responses = append(s.responses, r)
	return nil
}

// FuzzOrder sends messages in any order. A stream may end without an error only after its client
// has ended it and every message has a response. No message gets a response after a rejection. A
// JWE body must never pass unchanged.
func FuzzOrder(f *testing.F) {
	w := enginetest.NewWorld(f)
	p, err := extproc.New(extproc.Config{Engine: w.Engine(f), Identify: byField})
	if err != nil {
		f.Fatal(err)
	}
	encrypted := josed(
		enginetest.Forge{Key: w.EC}.Encrypt(f, "{}"), enginetest.Field{Name: "X-SVC-MLE-Response", Value: "required"},
	)
	clear := plain("POST", enginetest.Path, "{}")
	response := messageOf(enginetest.Response{Status: 200, Body: "{}"})
	alphabet := []*extprocv3.ProcessingRequest{
		requestMessages.head(&extprocv3.HttpHeaders{Headers: requestOf(encrypted).proto()}),
		requestMessages.head(&extprocv3.HttpHeaders{Headers: requestOf(encrypted).proto(), EndOfStream: true}),
		requestMessages.head(&extprocv3.HttpHeaders{Headers: requestOf(clear).proto()}),
		requestMessages.head(&extprocv3.HttpHeaders{Headers: requestOf(clear).proto(), EndOfStream: true}),
		requestMessages.body(&extprocv3.HttpBody{Body: []byte(encrypted.Body), EndOfStream: true}),
		requestMessages.body(&extprocv3.HttpBody{Body: []byte(clear.Body)}),
		responseMessages.head(&extprocv3.HttpHeaders{Headers: response.proto()}),
		responseMessages.head(&extprocv3.HttpHeaders{Headers: response.proto(), EndOfStream: true}),
		responseMessages.body(&extprocv3.HttpBody{Body: []byte(cleartext), EndOfStream: true}),
		responseTrailers,
		{},
		requestMessages.body(&extprocv3.HttpBody{Body: []byte(encrypted.Body)}),
		requestTrailers,
	}
	mode := &extprocv3.ProtocolConfiguration{
		RequestBodyMode: filterv3.ProcessingMode_BUFFERED, ResponseBodyMode: filterv3.ProcessingMode_BUFFERED,
	}
	for _, seed := range []string{
		"\x00\x04\x06\x08", "\x02\x05\x06\x08", "\x03\x07", "\x01\x06", "\x00\x04\x07\x08", "\x00\x05\x06", "\x06",
		"\x00\x0b\x0c\x06\x08\x09", "\x00\x0c", "",
	} {
		f.Add([]byte(seed), "optional")
		f.Add([]byte(seed), "required")
	}
	f.Fuzz(func(t *testing.T, order []byte, level string) {
		s := &script{ctx: metadata.NewIncomingContext(t.Context(), metadata.Pairs(extproc.MetadataPolicy, level))}
		for _, b := range order {
			r := clone(alphabet[int(b)%len(alphabet)])
			r.ProtocolConfig = mode
			s.sent = append(s.sent, r)
		}
		err := p.Process(s)
		if err == nil && (len(s.responses) != len(s.sent) || s.read != len(s.sent)) || err != nil &&
			len(s.responses) != max(s.read, 1)-1 {
			t.Fatalf("%q: got %v with %d responses to %d messages", order, err, len(s.responses), s.read)
		}
		s.judge(t, order)
	})
}

func (s *script) judge(t *testing.T, order []byte) {
	t.Helper()
	wanted := false                          // an encrypted request was accepted
	decryptedBodies, encryptedBodies := 0, 0 // request bodies decrypted, and response bodies encrypted
	for i, a := range s.responses {
		if a.GetImmediateResponse() != nil && i != len(s.responses)-1 {
			t.Fatalf("%q: responded after a refusal", order)
		}
		switch symbol := int(order[i]) % 13; {
		case symbol <= 1 && a.GetRequestHeaders() != nil:
			wanted = true
		case wanted && a.GetRequestBody() != nil && string(
			a.GetRequestBody().GetResponse().GetBodyMutation().GetBody(),
		) != "{}":
			t.Fatalf("%q: an encrypted body was let through", order)
		case wanted && a.GetResponseBody() != nil && len(a.GetResponseBody().GetResponse().GetBodyMutation().GetBody()) < 200:
			t.Fatalf("%q: a response was let through in the clear", order)
		case wanted && (a.GetRequestTrailers() != nil && decryptedBodies == 0 ||
			a.GetResponseTrailers() != nil && encryptedBodies == 0):
			t.Fatalf("%q: trailers were let through without a body", order)
		case a.GetRequestBody() != nil:
			decryptedBodies++
		case a.GetResponseBody() != nil:
			encryptedBodies++
		}
	}
}
