module github.com/causeway-pay/causeway/deploy/standalone

go 1.26.0

require (
	github.com/causeway-pay/causeway/compat-proxy v0.0.0
	github.com/causeway-pay/causeway/core v0.0.0
	github.com/causeway-pay/causeway/shared v0.0.0
)

require github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect

replace (
	github.com/causeway-pay/causeway/compat-proxy => ../../compat-proxy
	github.com/causeway-pay/causeway/core => ../../core
	github.com/causeway-pay/causeway/shared => ../../shared
)
