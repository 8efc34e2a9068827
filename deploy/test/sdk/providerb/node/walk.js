'use strict';
// The official Node client as a merchant uses it. It reads one request a line, a flat JSON object, and executes it.
// It prints the fields of the response that the client read, as another object. steps.json in the folder above has the
// requests and the expected responses.

const readline = require('readline');
const api = require('cybersource-rest-client');

const logins = JSON.parse(process.env.SDK_LOGINS); // the client's own settings, by name
const reads = Object.entries(JSON.parse(process.env.SDK_READS)); // printed lines: a name, and its path in a response

// make returns a new object of the client with the defined values; undefined if none is defined.
const make = (Type, values) => {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return given.length ? Object.assign(new Type(), Object.fromEntries(given)) : undefined;
};

const reference = (Type, r) => make(Type, {code: r.code, transactionId: r.transaction_id});

const amounts = (Type, r) => make(Type, {totalAmount: r.amount, currency: r.currency});

const bankOf = (r) => r.account && make(api.Ptsv2paymentsPaymentInformationBank, {
  account: make(api.Ptsv2paymentsPaymentInformationBankAccount, {type: 'C', number: r.account}), routingNumber: r.routing,
});

const address = (r) => r.zip && make(api.Ptsv2paymentsOrderInformationBillTo, {
  firstName: 'Ana', lastName: 'Wåhlin', address1: '1 Elm St', locality: 'Bellevue', administrativeArea: 'WA', postalCode: r.zip, country: 'US',
  email: 'ana@example.org',
});

const authorization = (r) => make(api.ProcessingInfoAuthorizationOptions, {
  partialAuthIndicator: r.partial && true, ignoreAvsResult: r.ignore_avs && true, ignoreCvResult: r.ignore_cv && true, initiator: initiator(r),
});

// initiator returns the initiator of the request, and whether the card is or was stored.
const initiator = (r) => make(api.ProcessingInfoAuthorizationOptionsInitiator, {
  type: r.initiator, credentialStoredOnFile: r.stores && true, storedCredentialUsed: r.previous && true,
  merchantInitiatedTransaction: make(api.ProcessingInfoAuthorizationOptionsInitiatorMerchantInitiatedTransaction, {
    previousTransactionId: r.previous,
  }),
});

// order returns the goods, the buyer and the device.
const order = (r) => (!r.order ? {} : {
  lineItems: [['mug', '2', '20.00'], ['lid', '1', '5.00']].map(([productSku, quantity, unitPrice]) => (
    make(api.Ptsv2paymentsOrderInformationLineItems, {productSku, productName: `a ${productSku}`, quantity: Number(quantity), unitPrice}))),
  invoiceDetails: make(api.Ptsv2paymentsOrderInformationInvoiceDetails, {purchaseOrderNumber: r.order}),
  shipTo: make(api.Ptsv2paymentsOrderInformationShipTo, {firstName: 'Bo', lastName: 'Diaz', address1: '2 Oak St', postalCode: '98005', country: 'US'}),
});

const shop = (r) => (!r.order ? {} : {
  merchantDefinedInformation: [make(api.Ptsv2paymentsMerchantDefinedInformation, {key: '1', value: 'gift <&> wrap'})],
  deviceInformation: make(api.Ptsv2paymentsDeviceInformation, {ipAddress: '192.0.2.7'}),
  buyerInformation: make(api.Ptsv2paymentsBuyerInformation, {merchantCustomerId: 'c-7', companyTaxId: '12-345'}),
});

const payment = (r) => make(api.CreatePaymentRequest, {
  clientReferenceInformation: reference(api.Ptsv2paymentsClientReferenceInformation, r),
  processingInformation: make(api.Ptsv2paymentsProcessingInformation, {
    capture: r.capture && true, commerceIndicator: r.commerce, authorizationOptions: authorization(r),
    bankTransferOptions: make(api.Ptsv2paymentsProcessingInformationBankTransferOptions, {secCode: r.entry}),
    actionList: r.keep && ['TOKEN_CREATE'], actionTokenTypes: r.keep && ['customer', 'paymentInstrument'],
  }),
  paymentInformation: make(api.Ptsv2paymentsPaymentInformation, {
    card: make(api.Ptsv2paymentsPaymentInformationCard, {
      number: r.number, expirationMonth: r.month, expirationYear: r.year, securityCode: r.security_code, type: r.card_type,
    }),
    tokenizedCard: make(api.Ptsv2paymentsPaymentInformationTokenizedCard, {
      number: r.token, expirationMonth: r.token && '12', expirationYear: r.token && '2031', cryptogram: r.cryptogram, transactionType: r.token && '1',
    }),
    bank: bankOf(r), customer: make(api.Ptsv2paymentsPaymentInformationCustomer, {id: r.customer}),
    paymentInstrument: make(api.Ptsv2paymentsPaymentInformationPaymentInstrument, {id: r.instrument}),
  }),
  orderInformation: make(api.Ptsv2paymentsOrderInformation, {
    amountDetails: amounts(api.Ptsv2paymentsOrderInformationAmountDetails, r), billTo: address(r), ...order(r),
  }),
  ...shop(r),
  consumerAuthenticationInformation: make(api.Ptsv2paymentsConsumerAuthenticationInformation, {
    cavv: r.cavv, xid: r.xid, eciRaw: r.eci, directoryServerTransactionId: r.ds_transaction, paSpecificationVersion: r.cavv && '2.2.0',
  }),
});

const capture = (r) => make(api.CapturePaymentRequest, {
  clientReferenceInformation: reference(api.Ptsv2paymentsClientReferenceInformation, r),
  processingInformation: make(api.Ptsv2paymentsidcapturesProcessingInformation, {
    captureOptions: make(api.Ptsv2paymentsidcapturesProcessingInformationCaptureOptions, {
      captureSequenceNumber: r.sequence && Number(r.sequence), totalCaptureCount: r.captures && Number(r.captures),
    }),
  }),
  orderInformation: make(api.Ptsv2paymentsidcapturesOrderInformation, {
    amountDetails: amounts(api.Ptsv2paymentsidcapturesOrderInformationAmountDetails, r),
  }),
});

const refund = (Type) => (r) => make(Type, {
  clientReferenceInformation: reference(api.Ptsv2paymentsidrefundsClientReferenceInformation, r),
  orderInformation: make(api.Ptsv2paymentsidrefundsOrderInformation, {
    amountDetails: amounts(api.Ptsv2paymentsidcapturesOrderInformationAmountDetails, r),
  }),
});

const reversal = (r) => make(api.AuthReversalRequest, {
  clientReferenceInformation: reference(api.Ptsv2paymentsidreversalsClientReferenceInformation, r),
  reversalInformation: make(api.Ptsv2paymentsidreversalsReversalInformation, {
    amountDetails: amounts(api.Ptsv2paymentsidreversalsReversalInformationAmountDetails, r), reason: 'the order was cancelled',
  }),
});

const timeoutReversal = (r) => make(api.MitReversalRequest, {
  clientReferenceInformation: reference(api.Ptsv2paymentsClientReferenceInformation, r),
  reversalInformation: make(api.Ptsv2paymentsidreversalsReversalInformation, {
    amountDetails: amounts(api.Ptsv2paymentsidreversalsReversalInformationAmountDetails, r), reason: 'no answer',
  }),
});

// voiding has only the client's own reference: the rest is in the path.
const voiding = (Type) => (r) => make(Type, {clientReferenceInformation: reference(api.Ptsv2paymentsidreversalsClientReferenceInformation, r)});

const credit = (r) => make(api.CreateCreditRequest, {
  clientReferenceInformation: reference(api.Ptsv2paymentsClientReferenceInformation, r),
  paymentInformation: make(api.Ptsv2paymentsidrefundsPaymentInformation, {
    card: make(api.Ptsv2paymentsidrefundsPaymentInformationCard, {number: r.number, expirationMonth: r.month, expirationYear: r.year}),
  }),
  orderInformation: make(api.Ptsv2paymentsidrefundsOrderInformation, {
    amountDetails: amounts(api.Ptsv2paymentsidcapturesOrderInformationAmountDetails, r),
  }),
});

const increment = (r) => make(api.IncrementAuthRequest, {
  clientReferenceInformation: reference(api.Ptsv2paymentsidClientReferenceInformation, r),
  orderInformation: make(api.Ptsv2paymentsidOrderInformation, {
    amountDetails: make(api.Ptsv2paymentsidOrderInformationAmountDetails, {additionalAmount: r.amount, currency: r.currency}),
  }),
});

// calls are the client's methods, each with the function that makes its request and the order of its arguments.
const calls = {
  payment: (client, done, r) => new api.PaymentsApi(...client).createPayment(payment(r), done),
  capture: (client, done, r) => new api.CaptureApi(...client).capturePayment(capture(r), r.id, done),
  reversal: (client, done, r) => new api.ReversalApi(...client).authReversal(r.id, reversal(r), done),
  'timeout-reversal': (client, done, r) => new api.ReversalApi(...client).mitReversal(timeoutReversal(r), done),
  refund: (client, done, r) => new api.RefundApi(...client).refundPayment(refund(api.RefundPaymentRequest)(r), r.id, done),
  'refund-capture': (client, done, r) => new api.RefundApi(...client).refundCapture(refund(api.RefundCaptureRequest)(r), r.id, done),
  void: (client, done, r) => new api.VoidApi(...client).voidPayment(voiding(api.VoidPaymentRequest)(r), r.id, done),
  'void-capture': (client, done, r) => new api.VoidApi(...client).voidCapture(voiding(api.VoidCaptureRequest)(r), r.id, done),
  'void-refund': (client, done, r) => new api.VoidApi(...client).voidRefund(voiding(api.VoidRefundRequest)(r), r.id, done),
  'void-credit': (client, done, r) => new api.VoidApi(...client).voidCredit(voiding(api.VoidCreditRequest)(r), r.id, done),
  'timeout-void': (client, done, r) => new api.VoidApi(...client).mitVoid(voiding(api.MitVoidRequest)(r), done),
  credit: (client, done, r) => new api.CreditApi(...client).createCredit(credit(r), done),
  increment: (client, done, r) => new api.PaymentsApi(...client).incrementAuth(r.id, increment(r), done),
  details: (client, done, r) => new api.TransactionDetailsApi(...client).getTransaction(r.id, done),
};

// at returns the value at a path of an object; undefined if the path does not exist.
const at = (object, path) => path.split('.').reduce((inner, key) => inner?.[key], object);

// execute sends one request. The client reports an unreadable response as its own error, without a status.
const execute = (r) => new Promise((resolve, reject) => {
  const done = (error, data, response) => {
    if (error && !error.status) {
      reject(error);
      return;
    }
    const line = {step: r.step, http: (error || response).status};
    const body = JSON.parse((error ? error.response : response).text);
    for (const [name, path] of reads) line[name] = at(data, path) ?? at(body, path); // its models lack some fields of the response
    resolve(line);
  };
  calls[r.method]([logins[r.login], new api.ApiClient()], done, r);
});

const strings = (line) => Object.fromEntries(Object.entries(line).filter(([, v]) => v !== undefined && v !== null).map(([k, v]) => [k, String(v)]));

(async () => {
  for await (const line of readline.createInterface({input: process.stdin})) {
    process.stdout.write(`${JSON.stringify(strings(await execute(JSON.parse(line))))}\n`);
  }
})().catch((error) => {
  process.stderr.write(`${error.stack || error}\n`);
  process.exit(1);
});
