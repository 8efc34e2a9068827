package providera

import (
	"context"
	"strings"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
	"github.com/causeway-pay/causeway/shared/id"
)

// merchantDetails serves a getMerchantDetailsRequest. Clients use it to check their login.
func (*Handler) merchantDetails(_ context.Context, c call) (*wire.Document, problem) {
	own := []*wire.Element{
		wire.RawElement("isTestMode", "false"),
		wire.ListElement("processors", wire.GroupElement("processor",
			wire.TextElement("name", "Causeway"), wire.RawElement("id", "1"))),
		wire.TextElement("merchantName", c.req.Root.Get("merchantAuthentication", "name")),
		wire.TextElement("gatewayId", decimal(id.Merchant, c.merchant)),
		names("marketTypes", "marketType", "eCommerce"),
		names("productCodes", "productCode", "CNP"),
		names("paymentMethods", "paymentMethod",
			"Visa", "MasterCard", "Discover", "AmericanExpress", "DinersClub", "JCB", "Echeck"),
		names("currencies", "currency", strings.ToUpper(c.basis.currency)),
	}
	if c.basis.zone != nil {
		own = append(own, wire.TextElement("merchantTimeZone", c.basis.zone.String()))
	}
	return document("getMerchantDetailsResponse", c.req.RefID, wire.ResultOK, refuse(apiOK), own...), problem{}
}

// names returns a list of texts.
func names(list, item string, values ...string) *wire.Element {
	items := make([]*wire.Element, len(values))
	for i, value := range values {
		items[i] = wire.TextElement(item, value)
	}
	return wire.ListElement(list, items...)
}
