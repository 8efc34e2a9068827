package announce_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/announce"
	"github.com/causeway-pay/causeway/shared/secret"
)

func TestPort(t *testing.T) {
	t.Parallel()
	var got string
	var response func(w http.ResponseWriter)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.URL.Path + " " + r.Header.Get("Authorization") + " " + r.Header.Get("Idempotency-Key") +
			" " + string(body)
		response(w)
	})
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	event := announce.Event{Type: "certificate.rotated", Name: "rot_1", Object: []byte(`{"a":1}`)}
	to := event
	to.Mode = "live"
	for name, p := range map[string]*announce.Port{
		"over HTTP":  {URL: server.URL + "/", Token: secret.New("token"), Client: server.Client()},
		"in process": announce.InProcess(handler, secret.New("token")),
	} {
		response = func(w http.ResponseWriter) { w.WriteHeader(http.StatusCreated) }
		if err := p.AllMerchants(t.Context(), event); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want := `POST /admin/v1/events Bearer token certificate.rotated:rot_1 {"type":"certificate.rotated",` +
			`"name":"rot_1","object":{"a":1}}`; got != want {
			t.Errorf("%s: got %s\nwant %s", name, got, want)
		}
		if err := p.Merchant(t.Context(), "mer_1/2", to); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want := `POST /admin/v1/merchants/mer_1/2/events Bearer token certificate.rotated:rot_1 {"mode":"live",` +
			`"type":"certificate.rotated","name":"rot_1","object":{"a":1}}`; got != want {
			t.Errorf("%s: got %s\nwant %s", name, got, want)
		}
		for status, bad := range map[int]bool{401: true, 503: true, 404: false, 302: false} {
			response = func(w http.ResponseWriter) {
				bodies := map[bool]string{true: `{"error":{"code":"operator_api_not_configured"}}`, false: "<html>"}
				w.WriteHeader(status)
				_, _ = io.WriteString(w, bodies[status == 503])
			}
			var refused *announce.RefusedError
			if err := p.AllMerchants(t.Context(), event); !errors.As(err, &refused) || refused.Status != status ||
				refused.BadToken() != bad {
				t.Errorf("%s: %d: got %v", name, status, err)
			}
		}
	}
	gone := announce.Port{URL: "http://127.0.0.1:1", Token: secret.New("token")}
	if err := gone.AllMerchants(t.Context(), event); err == nil {
		t.Error("delivered without a server")
	}
}

func TestGap(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int]time.Duration{
		1: 5 * time.Second, 2: 10 * time.Second, 7: 320 * time.Second,
		8: 10 * time.Minute, 1000000: 10 * time.Minute,
	} {
		if got := announce.Gap(attempts); got != want {
			t.Errorf("%d: got %s, want %s", attempts, got, want)
		}
	}
}
