module github.com/causeway-pay/causeway/deploy/clustertest

go 1.26.0

replace (
	github.com/causeway-pay/causeway/compat-proxy => ../../compat-proxy
	github.com/causeway-pay/causeway/core => ../../core
	github.com/causeway-pay/causeway/deploy/standalone => ../standalone
	github.com/causeway-pay/causeway/mle-filter => ../../mle-filter
	github.com/causeway-pay/causeway/shared => ../../shared
)
