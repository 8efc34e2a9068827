package command

// Named is a command that its client can tell from all others: one that comes again under the same Name is the same one, has no effect of
// its own and gets the first one's answer, for as long as v1 keeps it (24 hours). One with the same name that asks for something else is
// Refused with CodeKeyReused.
type Named struct {
	Command Command `json:"command"`
	// Name is told apart by the caller's API key; it may hold anything, as only a hash of it leaves the proxy.
	Name string `json:"name"`
}

// Kind implements Command.
func (n Named) Kind() Kind { return n.Command.Kind() }

// unwrap returns the command itself and takes its name for the key of its attempts.
func (s *session) unwrap(c Command) Command {
	n, ok := c.(Named)
	if !ok {
		return c
	}
	s.idempotencyKey = "named-" + s.identify([]string{string(n.Kind()), n.Name})
	return n.Command
}
