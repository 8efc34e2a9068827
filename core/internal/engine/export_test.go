package engine

// Wait waits for the lanes that a pass has started.
func (r *Recovery) Wait() { <-r.lanes.noWorkers() }

// Serve ends the start without an attempt at any step.
func (r *Recovery) Serve() { r.serve() }

// HoldCodeKeys makes every request without the hour's key wait until release is called.
func HoldCodeKeys(e *Engine) (release func()) {
	e.codes.turn <- struct{}{}
	return func() { <-e.codes.turn }
}
