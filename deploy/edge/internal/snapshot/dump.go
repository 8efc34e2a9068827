package snapshot

import (
	"fmt"
	"maps"
	"slices"

	udpaannotations "github.com/cncf/xds/go/udpa/annotations"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"
)

const redacted = "[redacted]"

// Dump returns every resource as JSON by kind, without the fields that Envoy's types mark as
// sensitive.
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

// Redact removes the sensitive fields of a message, and of the messages packed in it.
func Redact(m proto.Message) error { return redact(m.ProtoReflect()) }

func redact(m protoreflect.Message) error {
	if a, ok := m.Interface().(*anypb.Any); ok {
		return repack(a)
	}
	var failed error
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case sensitive(f):
			hide(m, f)
		case f.IsMap() && f.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, item protoreflect.Value) bool {
				failed = redact(item.Message())
				return failed == nil
			})
		case f.IsMap() || f.Message() == nil:
		case f.IsList():
			for i := 0; i < v.List().Len() && failed == nil; i++ {
				failed = redact(v.List().Get(i).Message())
			}
		default:
			failed = redact(v.Message())
		}
		return failed == nil
	})
	return failed
}

func repack(a *anypb.Any) error {
	inner, err := a.UnmarshalNew()
	if err != nil {
		return fmt.Errorf("redact: %w", err)
	}
	if err := Redact(inner); err != nil {
		return err
	}
	return a.MarshalFrom(inner)
}

// hide empties a field. A field without a replacement is removed.
func hide(m protoreflect.Message, f protoreflect.FieldDescriptor) {
	m.Clear(f)
	if f.Message() != nil && !f.IsList() && !f.IsMap() && f.Message().FullName() == "envoy.config.core.v3.DataSource" {
		source := m.Mutable(f).Message()
		source.Set(source.Descriptor().Fields().ByName("inline_string"), protoreflect.ValueOfString(redacted))
	}
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
