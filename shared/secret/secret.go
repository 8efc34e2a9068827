package secret
type String struct{}
