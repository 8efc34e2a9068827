package export_test

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/programtest"
	"github.com/causeway-pay/causeway/shared/telemetry"
	"github.com/causeway-pay/causeway/shared/telemetry/export"
	"github.com/causeway-pay/causeway/shared/telemetry/telemetrytest"
)

// secretValue stands where a secret may be by mistake; no message may hold it.
const secretValue = "hunter2"

// open opens a provider by these variables, and returns it with its log.
func open(t *testing.T, vars map[string]string) (*export.Provider, *programtest.Log, error) {
	t.Helper()
	log := &programtest.Log{}
	p, err := export.Open(t.Context(), export.Config{
		Getenv: func(name string) string { return vars[name] }, Service: "test", Log: slog.New(slog.NewJSONHandler(log, nil)),
		Console: log,
	})
	if err == nil {
		t.Cleanup(func() { p.Close(t.Context()) })
	}
	return p, log, err
}

func mustOpen(t *testing.T, vars map[string]string) (*export.Provider, *programtest.Log) {
	t.Helper()
	p, log, err := open(t, vars)
	if err != nil {
		t.Fatal(err)
	}
	return p, log
}

func one(t *testing.T, tracer *telemetry.Tracer) {
	t.Helper()
	_, span := tracer.Server(t.Context(), "GET /v1/health", telemetry.Remote{})
	span.Word(telemetry.Outcome, "ok")
	span.End()
}

func TestOnOrOff(t *testing.T) {
	t.Parallel()
	const endpoint = "http://127.0.0.1:1"
	for name, c := range map[string]struct {
		vars map[string]string
		on   bool
		err  error
		warn string // the variable that a warning names
	}{
		"Nothing":        {nil, false, nil, ""},
		"Endpoint":       {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}, true, nil, ""},
		"TracesEndpoint": {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": endpoint}, true, nil, ""},
		"OTLP":           {map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, true, nil, ""},
		"Console":        {map[string]string{"OTEL_TRACES_EXPORTER": "console"}, true, nil, ""},
		"Both":           {map[string]string{"OTEL_TRACES_EXPORTER": "otlp, console"}, true, nil, ""},
		"None": {
			map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint},
			false, nil, "",
		},
		"Disabled": {
			map[string]string{"OTEL_SDK_DISABLED": "True", "OTEL_TRACES_EXPORTER": secretValue},
			false, nil,
			"",
		},
		"DisabledNonsense": {
			map[string]string{"OTEL_SDK_DISABLED": secretValue, "OTEL_TRACES_EXPORTER": "otlp"},
			true, nil,
			"OTEL_SDK_DISABLED",
		},
		"Unknown":        {map[string]string{"OTEL_TRACES_EXPORTER": secretValue}, false, export.ErrExporter, ""},
		"NoneWithOthers": {map[string]string{"OTEL_TRACES_EXPORTER": "none,otlp"}, false, export.ErrExporter, ""},
		"GRPC": {
			map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
			false,
			export.ErrProtocol, "",
		},
		"NoURL": {
			map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://u:" + secretValue + "@[::"},
			false,
			export.ErrEndpoint, "",
		},
		"NoScheme": {
			map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": secretValue + ":4318"},
			false,
			export.ErrEndpoint, "",
		},
		"Sampler": {
			map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_TRACES_SAMPLER": secretValue},
			true,
			nil, "OTEL_TRACES_SAMPLER",
		},
		"Headers": {
			map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_HEADERS": secretValue},
			true, nil, "OTEL_EXPORTER_OTLP_HEADERS",
		},
		"Timeout": {
			map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "-1"},
			true, nil, "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
		},
		"Compression": {
			map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_COMPRESSION": "zip"},
			true, nil, "OTEL_EXPORTER_OTLP_COMPRESSION",
		},
		"Queue": {
			map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_BSP_MAX_QUEUE_SIZE": "1000000000"},
			true, nil, "OTEL_BSP_MAX_QUEUE_SIZE",
		},
		"Delay": {
			map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_BSP_SCHEDULE_DELAY": "soon"},
			true, nil,
			"OTEL_BSP_SCHEDULE_DELAY",
		},
		"Resource": {
			map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_RESOURCE_ATTRIBUTES": "a=%zz"},
			true,
			nil, "OTEL_RESOURCE_ATTRIBUTES",
		},
		"Ratio": {map[string]string{
			"OTEL_TRACES_EXPORTER": "otlp", "OTEL_TRACES_SAMPLER": "traceidratio",
			"OTEL_TRACES_SAMPLER_ARG": "2",
		}, true, nil, "OTEL_TRACES_SAMPLER_ARG"},
		"RatioWhenUnneeded": {map[string]string{
			"OTEL_TRACES_EXPORTER": "otlp", "OTEL_TRACES_SAMPLER": "always_on",
			"OTEL_TRACES_SAMPLER_ARG": "2",
		}, true, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, log, err := open(t, c.vars)
			if !errors.Is(err, c.err) {
				t.Fatalf("got %v, want %v", err, c.err)
			}
			if err != nil {
				if strings.Contains(err.Error(), secretValue) || !strings.Contains(err.Error(), "OTEL_") {
					t.Errorf("the error is %q", err)
				}
				return
			}
			if got := p.Tracer("x") != nil; got != c.on {
				t.Errorf("on: got %t, want %t", got, c.on)
			}
			warned := strings.Contains(log.String(), `"WARN"`)
			if warned != (c.warn != "") || c.warn != "" && !strings.Contains(log.String(), `"`+c.warn+`"`) ||
				strings.Contains(log.String(), secretValue) {
				t.Errorf("the log is %s, want a warning of %q", log, c.warn)
			}
		})
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	to := telemetrytest.New(t)
	p, _ := mustOpen(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": to.URL, "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20x, other=1",
		"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
		"OTEL_SERVICE_NAME":              "shop",
		"OTEL_RESOURCE_ATTRIBUTES":       "service.name=lost,deployment.environment.name=test%2C1",
	})
	one(t, p.Tracer("core"))
	p.Close(t.Context())
	p.Close(t.Context())
	spans := to.Spans()
	if len(spans) != 1 {
		t.Fatalf("spans: got %d, want 1", len(spans))
	}
	s := spans[0]
	if s.Resource["service.name"] != "shop" || s.Resource["deployment.environment.name"] != "test,1" ||
		len(s.Resource) != 2 {
		t.Errorf("resource: got %v", s.Resource)
	}
	if s.Name != "GET /v1/health" || s.Kind != "server" || !strings.HasSuffix(s.Scope, "/core") ||
		s.Attributes["causeway.outcome"] != "ok" {
		t.Errorf("span: got %+v", s)
	}
	if h := to.Headers()[0]; h.Get("Authorization") != "Bearer x" || h.Get("Other") != "1" {
		t.Errorf("headers: got %v", h)
	}
}

func TestSampler(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sampler, arg  string
		alone, parent int // spans of a request without a parent, and of one whose parent was not sampled
	}{
		"Default":          {"", "", 1, 0},
		"AlwaysOn":         {"always_on", "", 1, 1},
		"AlwaysOff":        {"always_off", "", 0, 0},
		"Ratio0":           {"traceidratio", "0", 0, 0},
		"Ratio1":           {"traceidratio", "1", 1, 1},
		"ParentBasedRatio": {"parentbased_traceidratio", "1", 1, 0},
		"ParentBasedOff":   {"parentbased_always_off", "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := telemetrytest.New(t)
			p, _ := mustOpen(t, map[string]string{
				"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": to.URL + "/v1/traces", "OTEL_TRACES_SAMPLER": c.sampler,
				"OTEL_TRACES_SAMPLER_ARG": c.arg,
			})
			unsampled := telemetry.Parse(http.Header{"Traceparent": {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"}})
			one(t, p.Tracer("x"))
			_, span := p.Tracer("x").Server(t.Context(), "under", unsampled)
			span.End()
			p.Close(t.Context())
			if got := [2]int{len(to.Named("GET /v1/health")), len(to.Named("under"))}; got != [2]int{c.alone, c.parent} {
				t.Errorf("spans: got %v, want %v", got, [2]int{c.alone, c.parent})
			}
		})
	}
}

// TestADeadCollectorDelaysNothing: a collector that accepts connections but sends no response
// delays neither a span nor the stop.
func TestADeadCollectorDelaysNothing(t *testing.T) {
	t.Parallel()
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	p, _ := mustOpen(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + silent.Addr().String(),
		"OTEL_BSP_MAX_QUEUE_SIZE":     "64",
		// An export lasts for longer than the test: spans that waited for it would never end.
		"OTEL_BSP_EXPORT_TIMEOUT": "3600000", "OTEL_EXPORTER_OTLP_TIMEOUT": "3600000",
	})
	tracer := p.Tracer("x")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 10_000 { // many more than the queue can hold
			one(t, tracer)
		}
	}()
	select {
	case <-done:
	case <-time.After(programtest.Patience):
		t.Fatal("spans wait for the collector")
	}
	stopped := make(chan struct{})
	go func() { p.Close(t.Context()); close(stopped) }()
	select {
	case <-stopped:
	case <-time.After(programtest.Patience):
		t.Fatal("the stop waits for the collector")
	}
}

// TestASilentCollectorIsLogged: an export that times out is logged.
func TestASilentCollectorIsLogged(t *testing.T) {
	t.Parallel()
	silent, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	p, log := mustOpen(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://" + silent.Addr().String(),
		"OTEL_BSP_SCHEDULE_DELAY":     "1", "OTEL_BSP_EXPORT_TIMEOUT": "200",
	})
	one(t, p.Tracer("x"))
	programtest.WaitFor(t, "the timeout is logged", func() bool {
		return strings.Contains(log.String(), `"class":"timeout"`)
	})
}

// TestResponsesOfTheCollectorAreNotLogged: the responses and the address of a collector may contain
// secrets.
func TestResponsesOfTheCollectorAreNotLogged(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, secretValue, http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	p, log := mustOpen(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL, "OTEL_EXPORTER_OTLP_HEADERS": "api-key=" + secretValue,
		"OTEL_BSP_SCHEDULE_DELAY": "1",
	})
	one(t, p.Tracer("x"))
	p.Close(t.Context())
	lines := slices.Collect(strings.Lines(log.String()))
	if len(lines) != 1 || !strings.Contains(lines[0], `"class":"refused"`) || !strings.Contains(lines[0], `"spans":1`) {
		t.Errorf("the log is %s", log)
	}
	if strings.Contains(log.String(), secretValue) || strings.Contains(log.String(), server.URL) {
		t.Errorf("the log holds what it must not: %s", log)
	}
}

func TestConsole(t *testing.T) {
	t.Parallel()
	p, out := mustOpen(t, map[string]string{"OTEL_TRACES_EXPORTER": "console"})
	one(t, p.Tracer("x"))
	p.Close(t.Context())
	if !strings.Contains(out.String(), `"Name":"GET /v1/health"`) {
		t.Errorf("printed %s", out)
	}
}
