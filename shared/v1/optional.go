package v1

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
