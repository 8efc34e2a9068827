package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	udpaannotations "github.com/cncf/xds/go/udpa/annotations"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/causeway-pay/causeway/deploy/edge/internal/build"
	"github.com/causeway-pay/causeway/shared/httpx"
)

const redacted = "[redacted]"

// Dump returns every resource as JSON by kind, without secrets. It hides the fields that Envoy's
// types mark as sensitive, and the header fields that authenticate our services to each other.
func (s *Snapshot) Dump() (map[string]any, error) {
	out := map[string]any{}
	for _, url := range Types {
		resources := s.cache.GetResources(url)
		texts := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(resources)) {
			shown := proto.Clone(resources[name])
			if err := Redact(shown); err != nil {
				return nil, err
			}
			text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(shown)
			if err != nil {
				return nil, fmt.Errorf("dump: %w", err)
			}
			texts[name] = jsonText(text)
		}
		out[url] = map[string]any{"version": s.Version(url), "resources": texts}
	}
	return out, nil
}

// jsonText is encoded JSON.
type jsonText []byte

// MarshalJSON returns the text.
func (t jsonText) MarshalJSON() ([]byte, error) { return t, nil }

// Scrub replaces the secrets of the resources in a text of an Envoy, which may quote a resource
// that it rejects.
func (s *Snapshot) Scrub(text string) string {
	for _, line := range s.secrets {
		text = strings.ReplaceAll(text, line, redacted)
	}
	return text
}

// minScrubbed is the shortest line that Scrub replaces. Every secret has a longer line, and shorter
// texts also occur outside of secrets.
const minScrubbed = 16

// secretLines returns the lines of all sensitive values. An Envoy may quote a value with escaped
// line ends, but a line is the same in each form.
func secretLines(cache *cachev3.Snapshot) ([]string, error) {
	var r redaction
	for _, url := range Types {
		for _, m := range cache.GetResources(url) {
			if err := r.message(proto.Clone(m).ProtoReflect()); err != nil {
				return nil, err
			}
		}
	}
	var lines []string
	for _, value := range r.removed {
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= minScrubbed {
				lines = append(lines, line)
			}
		}
	}
	return lines, nil
}

// Redact removes the sensitive fields of a message, and of the messages packed in it.
func Redact(m proto.Message) error { return new(redaction).message(m.ProtoReflect()) }

// redaction removes sensitive fields and collects their values.
type redaction struct{ removed []string }

func (r *redaction) message(m protoreflect.Message) error {
	if a, ok := m.Interface().(*anypb.Any); ok {
		return r.repack(a)
	}
	var failed error
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case sensitive(f) || secretHeader(m, f):
			r.collect(f, v)
			hide(m, f)
		case f.IsMap() && f.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, item protoreflect.Value) bool {
				failed = r.message(item.Message())
				return failed == nil
			})
		case f.IsMap() || f.Message() == nil:
		case f.IsList():
			for i := 0; i < v.List().Len() && failed == nil; i++ {
				failed = r.message(v.List().Get(i).Message())
			}
		default:
			failed = r.message(v.Message())
		}
		return failed == nil
	})
	return failed
}

func (r *redaction) repack(a *anypb.Any) error {
	inner, err := a.UnmarshalNew()
	if err != nil {
		return fmt.Errorf("redact: %w", err)
	}
	if err := r.message(inner.ProtoReflect()); err != nil {
		return err
	}
	return a.MarshalFrom(inner)
}

// collect records a sensitive text, or the inline text of a sensitive source. The names of files
// and variables are not secret.
func (r *redaction) collect(f protoreflect.FieldDescriptor, v protoreflect.Value) {
	switch {
	case f.IsList() || f.IsMap():
	case f.Kind() == protoreflect.StringKind:
		r.removed = append(r.removed, v.String())
	case f.Kind() == protoreflect.BytesKind:
		r.removed = append(r.removed, string(v.Bytes()))
	case f.Message() != nil && f.Message().FullName() == dataSource:
		source := v.Message()
		fields := source.Descriptor().Fields()
		for _, name := range []protoreflect.Name{"inline_string", "inline_bytes"} {
			r.collect(fields.ByName(name), source.Get(fields.ByName(name)))
		}
	}
}

const (
	dataSource  = "envoy.config.core.v3.DataSource"
	headerValue = "envoy.config.core.v3.HeaderValue"
)

// hide empties a field. A field without a replacement is removed.
func hide(m protoreflect.Message, f protoreflect.FieldDescriptor) {
	m.Clear(f)
	switch {
	case f.IsList() || f.IsMap():
	case f.Kind() == protoreflect.StringKind:
		m.Set(f, protoreflect.ValueOfString(redacted))
	case f.Message() != nil && f.Message().FullName() == dataSource:
		source := m.Mutable(f).Message()
		source.Set(source.Descriptor().Fields().ByName("inline_string"), protoreflect.ValueOfString(redacted))
	}
}

// secretHeader reports whether f is the value of a header field that authenticates our services to
// each other. Envoy's type does not mark it: to Envoy it is a value like any other.
func secretHeader(m protoreflect.Message, f protoreflect.FieldDescriptor) bool {
	if m.Descriptor().FullName() != headerValue || f.Name() == "key" {
		return false
	}
	key := strings.ToLower(m.Get(m.Descriptor().Fields().ByName("key")).String())
	return strings.HasPrefix(key, build.InternalPrefix) && key != strings.ToLower(httpx.ClientAddressField)
}

// sensitive reports whether Envoy hides a field in its own dumps, by its annotation.
func sensitive(f protoreflect.FieldDescriptor) bool {
	options, ok := f.Options().(*descriptorpb.FieldOptions)
	if !ok || options == nil {
		return false
	}
	value, ok := proto.GetExtension(options, udpaannotations.E_Sensitive).(bool)
	return ok && value
}
