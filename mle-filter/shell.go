package mlefilter

import "github.com/causeway-pay/causeway/mle-filter/internal/shell"

// Shell returns the parts of another transport, in addition to Handler. A program links the
// transports that it serves. They must end before Close.
func (f *Filter) Shell() shell.Config {
	return shell.Config{
		Engine: f.engine, Identify: f.identify, Around: f.around, Observe: f.metrics.Exchange, Log: f.cfg.Log,
	}
}
