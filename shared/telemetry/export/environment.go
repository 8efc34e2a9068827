package export

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// Errors of Open, wrapped with the name of the variable.
var (
	ErrExporter = errors.New("want otlp, console or none")
	ErrProtocol = errors.New("want http/protobuf")
	ErrEndpoint = errors.New("want an http or https URL")
)

const (
	defaultEndpoint = "http://localhost:4318"
	defaultTimeout  = 10 * time.Second
	maxQueue        = 1 << 16 // spans
)

// environment holds the settings from the variables.
type environment struct {
	otlp, console bool
	endpoint      string
	headers       map[string]string // secret
	timeout       time.Duration
	gzip          bool
	attributes    []attribute.KeyValue
	sampler       sdk.Sampler
	batches       []sdk.BatchSpanProcessorOption

	getenv   func(string) string
	warnings []string // names of variables whose value counts as unset
}

// read reads the variables. otlp and console report whether anything is exported.
func read(getenv func(string) string, service string) (*environment, error) {
	e := &environment{getenv: getenv}
	if e.disabled() {
		return e, nil
	}
	if err := e.readExporters(); err != nil || !e.otlp && !e.console {
		return e, err
	}
	if e.otlp {
		if err := e.readOTLP(); err != nil {
			return nil, err
		}
	}
	e.sampler = e.readSampler()
	e.batches = e.readBatches()
	e.attributes = e.readAttributes(service)
	return e, nil
}

// value returns the value of a variable. By the specification, an empty value counts as unset.
func (e *environment) value(name string) string { return strings.TrimSpace(e.getenv(name)) }

// specific returns the value of OTEL_EXPORTER_OTLP_TRACES_suffix, or else
// OTEL_EXPORTER_OTLP_suffix, and the name of the variable it has.
func (e *environment) specific(suffix string) (name, value string) {
	name = "OTEL_EXPORTER_OTLP_TRACES_" + suffix
	if value = e.value(name); value == "" {
		name = "OTEL_EXPORTER_OTLP_" + suffix
		value = e.value(name)
	}
	return name, value
}

func (e *environment) warn(name string) { e.warnings = append(e.warnings, name) }

func (e *environment) disabled() bool {
	v := e.value("OTEL_SDK_DISABLED")
	if v != "" && !strings.EqualFold(v, "true") && !strings.EqualFold(v, "false") {
		e.warn("OTEL_SDK_DISABLED")
	}
	return strings.EqualFold(v, "true")
}

func (e *environment) readExporters() error {
	names := strings.Split(e.value("OTEL_TRACES_EXPORTER"), ",")
	for _, name := range names {
		switch strings.TrimSpace(name) {
		case "otlp":
			e.otlp = true
		case "console":
			e.console = true
		case "none":
			if len(names) > 1 {
				return fmt.Errorf("OTEL_TRACES_EXPORTER: none cannot be combined with another exporter: %w", ErrExporter)
			}
		case "":
			if len(names) > 1 {
				return fmt.Errorf("OTEL_TRACES_EXPORTER: %w", ErrExporter)
			}
			_, endpoint := e.specific("ENDPOINT")
			e.otlp = endpoint != ""
		default:
			return fmt.Errorf("OTEL_TRACES_EXPORTER: %w", ErrExporter)
		}
	}
	return nil
}

func (e *environment) readOTLP() error {
	if name, protocol := e.specific("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return fmt.Errorf("%s: %w", name, ErrProtocol)
	}
	name, endpoint := e.specific("ENDPOINT")
	u, err := url.Parse(cmp.Or(endpoint, defaultEndpoint))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("%s: %w", name, ErrEndpoint) // without err, which quotes the URL, user and password included
	}
	if name != "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" {
		u = u.JoinPath("v1", "traces")
	}
	e.endpoint = u.String()
	e.timeout = e.readTimeout()
	name, compression := e.specific("COMPRESSION")
	switch compression {
	case "gzip":
		e.gzip = true
	case "", "none":
	default:
		e.warn(name)
	}
	name, headers := e.specific("HEADERS")
	if e.headers, err = pairs(headers); err != nil {
		e.warn(name)
	}
	return nil
}

func (e *environment) readTimeout() time.Duration {
	name, text := e.specific("TIMEOUT")
	return e.milliseconds(name, text, defaultTimeout)
}

func (e *environment) milliseconds(name, text string, unset time.Duration) time.Duration {
	return time.Duration(e.number(name, text, int(unset.Milliseconds()), 1<<31)) * time.Millisecond
}

// number reads a number from 1 to most.
func (e *environment) number(name, text string, unset, most int) int {
	if text == "" {
		return unset
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		e.warn(name)
		return unset
	}
	return n
}

// readBatches reads how spans are batched. The queue is bounded for every setting: memory is worth
// more than spans.
func (e *environment) readBatches() []sdk.BatchSpanProcessorOption {
	const prefix = "OTEL_BSP_"
	duration := func(name string, unset time.Duration) time.Duration {
		return e.milliseconds(prefix+name, e.value(prefix+name), unset)
	}
	queue := e.number(prefix+"MAX_QUEUE_SIZE", e.value(prefix+"MAX_QUEUE_SIZE"), sdk.DefaultMaxQueueSize, maxQueue)
	size := e.number(prefix+"MAX_EXPORT_BATCH_SIZE", e.value(prefix+"MAX_EXPORT_BATCH_SIZE"),
		min(sdk.DefaultMaxExportBatchSize, queue), queue)
	return []sdk.BatchSpanProcessorOption{
		sdk.WithMaxQueueSize(queue), sdk.WithMaxExportBatchSize(size),
		sdk.WithBatchTimeout(duration("SCHEDULE_DELAY", sdk.DefaultScheduleDelay*time.Millisecond)),
		sdk.WithExportTimeout(duration("EXPORT_TIMEOUT", sdk.DefaultExportTimeout*time.Millisecond)),
	}
}

func (e *environment) readSampler() sdk.Sampler {
	ratio := func() sdk.Sampler {
		text := e.value("OTEL_TRACES_SAMPLER_ARG")
		v, err := strconv.ParseFloat(cmp.Or(text, "1"), 64)
		if err != nil || !(v >= 0 && v <= 1) {
			e.warn("OTEL_TRACES_SAMPLER_ARG")
			v = 1
		}
		return sdk.TraceIDRatioBased(v)
	}
	switch e.value("OTEL_TRACES_SAMPLER") {
	case "always_on":
		return sdk.AlwaysSample()
	case "always_off":
		return sdk.NeverSample()
	case "traceidratio":
		return ratio()
	case "parentbased_always_off":
		return sdk.ParentBased(sdk.NeverSample())
	case "parentbased_traceidratio":
		return sdk.ParentBased(ratio())
	case "", "parentbased_always_on":
	default:
		e.warn("OTEL_TRACES_SAMPLER")
	}
	return sdk.ParentBased(sdk.AlwaysSample())
}

// readAttributes reads the attributes of every span of the process. They come from the variables
// alone: the machine and the command line may hold private data.
func (e *environment) readAttributes(service string) []attribute.KeyValue {
	given, err := pairs(e.value("OTEL_RESOURCE_ATTRIBUTES"))
	if err != nil {
		e.warn("OTEL_RESOURCE_ATTRIBUTES")
	}
	name := cmp.Or(e.value("OTEL_SERVICE_NAME"), given["service.name"], service)
	out := []attribute.KeyValue{attribute.String("service.name", name)}
	for key, value := range given {
		if key != "service.name" {
			out = append(out, attribute.String(key, value))
		}
	}
	slices.SortFunc(out, func(a, b attribute.KeyValue) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

var errPairs = errors.New("want name=value pairs, separated by commas")

// pairs reads name=value,… with percent-encoded values. For a list that cannot be read it returns
// nothing, as the specification demands.
func pairs(text string) (map[string]string, error) {
	out := map[string]string{}
	if strings.TrimSpace(text) == "" {
		return out, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		decoded, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || name == "" || strings.ContainsAny(name, " \t\r\n:") || err != nil ||
			strings.ContainsAny(decoded, "\r\n\x00") {
			return map[string]string{}, errPairs
		}
		out[name] = decoded
	}
	return out, nil
}
