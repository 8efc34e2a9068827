package engine

// Wait waits for the lanes that a pass has started.
func (r *Recovery) Wait() { <-r.noWorkers() }

// Serve ends the start without trying anything.
func (r *Recovery) Serve() { r.serve() }
