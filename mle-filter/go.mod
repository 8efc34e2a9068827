module github.com/causeway-pay/causeway/mle-filter

go 1.26.0

require github.com/go-jose/go-jose/v4 v4.1.8

replace github.com/causeway-pay/causeway/shared => ../shared
