package mlefilter

import "github.com/causeway-pay/causeway/mle-filter/internal/shell"

// Shell is what another transport of this module stands on, beside Handler: a program links the ones that it serves. It ends before Close.
func (f *Filter) Shell() shell.Config {
	return shell.Config{Engine: f.engine, Identify: f.identify, Around: f.around, Observe: f.metrics.Exchange, Log: f.cfg.Log}
}
