module github.com/causeway-pay/causeway/deploy/edge

go 1.26.0
