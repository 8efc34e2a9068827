package extproc_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/mle-filter/internal/enginetest"
	"github.com/causeway-pay/causeway/mle-filter/internal/httphop"
)

// TestCases runs the engine's cases through the processor, with a fake Envoy that keeps Envoy's
// rules, and through the HTTP hop. Both shells must do the same.
func TestCases(t *testing.T) {
	t.Parallel()
	w := enginetest.NewWorld(t)
	e := w.Engine(t)
	client := dial(t, serve(t, processor(t, e, nil)))
	for name, envoy := range map[string]*fakeEnvoy{
		"TakesModes": {client: client}, "FixedMode": {client: client, fixed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			enginetest.Run(t, w, func(t *testing.T, r enginetest.Request, reply enginetest.Response) enginetest.Outcome {
				t.Helper()
				r.Fields = append(slices.Clone(r.Fields), enginetest.Field{Name: callerField, Value: r.Caller})
				out, err := envoy.exchange(withLevels(t, "optional"), r, func(*message) *message { return messageOf(reply) })
				if err != nil {
					t.Fatal(err)
				}
				compare(t, out, byHop(t, &httphop.Config{Engine: e, Identify: byField}, r, reply))
				return out
			})
		})
	}
}

// TestInternalResponseFields checks that the fields from core to the filter do not reach the
// client, even if nothing is encrypted.
func TestInternalResponseFields(t *testing.T) {
	t.Parallel()
	envoy := &fakeEnvoy{client: dial(t, serve(t, processor(t, enginetest.NewWorld(t).Engine(t), nil)))}
	out, err := envoy.exchange(
		withLevels(t, "optional"), plain("GET", enginetest.Path, ""),
		func(*message) *message { return messageOf(enginetest.InternalResponse) },
	)
	if err != nil {
		t.Fatal(err)
	}
	enginetest.CheckInternal(t, out)
}

func messageOf(r enginetest.Response) *message {
	fields := []enginetest.Field{{Name: ":status", Value: strconv.Itoa(r.Status)}}
	return &message{fields: append(fields, r.Fields...), body: r.Body}
}

// byHop returns the outcome of a request through the other shell.
func byHop(
	t *testing.T, cfg *httphop.Config, r enginetest.Request, reply enginetest.Response,
) (out enginetest.Outcome) {
	t.Helper()
	cfg.Core = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		out.Reached, out.Core, out.Body = out.Reached+1, r.Header.Clone(), string(body)
		for _, f := range reply.Fields {
			w.Header().Add(f.Name, f.Value)
		}
		w.WriteHeader(reply.Status)
		_, _ = io.WriteString(w, reply.Body)
	})
	hop, err := httphop.New(*cfg)
	if err != nil {
		t.Fatal(err)
	}
	var body io.Reader = strings.NewReader(r.Body)
	if r.NoLength {
		body = io.MultiReader(body)
	}
	req := httptest.NewRequestWithContext(t.Context(), r.Method, r.Path, body)
	for _, f := range r.Fields {
		req.Header.Add(f.Name, f.Value)
	}
	rec := httptest.NewRecorder()
	hop.ServeHTTP(rec, req)
	out.Status, out.Fields, out.Response = rec.Code, rec.Header(), rec.Body.String()
	return out
}

// compare requires the same outcome from both shells.
func compare(t *testing.T, got, other enginetest.Outcome) {
	t.Helper()
	if got.Reached != other.Reached || got.Body != other.Body || got.Status != other.Status {
		t.Errorf("got %d requests to core, %d bytes there and %d; the HTTP hop %d, %d and %d",
			got.Reached, len(got.Body), got.Status, other.Reached, len(other.Body), other.Status)
	}
	if jose := got.Fields.Get("Content-Type") == "application/jose"; !jose &&
		idless(got.Response) != idless(other.Response) {
		t.Errorf("got %q, the HTTP hop %q", got.Response, other.Response)
	}
	same(
		t, "core's", got.Core, other.Core, "Content-Length", "User-Agent", "X-Forwarded-For", "X-Forwarded-Host",
		"X-Forwarded-Proto",
	)
	same(t, "the client's", got.Fields, other.Fields, "Content-Length", "Request-Id", "Date", "Connection")
}

// same requires two heads to be equal, except for the fields that the transports add.
func same(t *testing.T, whose string, got, other http.Header, but ...string) {
	t.Helper()
	got, other = canonical(got, but), canonical(other, but)
	if !maps.EqualFunc(got, other, slices.Equal) {
		t.Errorf("%s fields: got %v, the HTTP hop %v", whose, got, other)
	}
}

func canonical(h http.Header, but []string) http.Header {
	out := http.Header{}
	for name, values := range h {
		if name = http.CanonicalHeaderKey(name); !slices.Contains(but, name) && strings.Join(values, "") != "" {
			out[name] = values
		}
	}
	return out
}

// idless returns an error body without the id of its request.
func idless(body string) string {
	at := strings.Index(body, `"request_id":"`)
	if at < 0 {
		return body
	}
	return body[:at]
}
