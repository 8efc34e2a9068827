package v1

import "maps"

// Text returns the text of an optional field, "" without one.
func Text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Optional returns an optional field with the text, without one for "".
func Optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// OptionalMetadata returns an optional field with the entries, without one if there are none.
func OptionalMetadata(entries map[string]string) *Metadata {
	if len(entries) == 0 {
		return nil
	}
	return new(Metadata(entries))
}

// Entry returns an entry of metadata, "" if there is none.
func Entry(m *Metadata, name string) string {
	if m == nil {
		return ""
	}
	return (*m)[name]
}

// WithEntry returns a copy of m with an entry, which replaces any other of its name.
func WithEntry(m *Metadata, name, value string) *Metadata {
	out := Metadata{}
	if m != nil {
		maps.Copy(out, *m)
	}
	out[name] = value
	return &out
}
