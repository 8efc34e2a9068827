package simulator

// OpenSmall is Open with a memory and a journal small enough to overflow in a test.
func OpenSmall(cfg Config, generation int, segment int64) (*Simulator, error) {
	return open(cfg, limits{generation: generation, segment: segment})
}

// Embedded is the text of default.yaml.
func Embedded() []byte { return embedded }
