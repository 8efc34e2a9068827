package engine

// Wait waits for the lanes that a pass has started.
func (r *Recovery) Wait() { r.lanes.Wait() }

// Serve ends the start without trying anything.
func (r *Recovery) Serve() { r.serve() }

// Abandon hands an intent over whose commit failed with err, and reports whether recovery takes it up
// at once.
func (e *Engine) Abandon(err error, reference string) bool {
	_ = e.abandon(err, reference)
	_, given := e.givenUp.Load(reference)
	return given
}
