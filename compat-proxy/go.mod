module github.com/causeway-pay/causeway/compat-proxy

go 1.26.0

require github.com/causeway-pay/causeway/shared v0.0.0

require (
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)

replace github.com/causeway-pay/causeway/shared => ../shared
