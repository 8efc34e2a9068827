module github.com/causeway-pay/causeway/mle-filter

go 1.26.0

require (
	github.com/causeway-pay/causeway/shared v0.0.0
	github.com/go-jose/go-jose/v4 v4.1.8
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3
)

require (
	github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/oapi-codegen/runtime v1.8.0 // indirect
)

replace github.com/causeway-pay/causeway/shared => ../shared
