'use strict';
// The official Node client as a merchant uses it. It reads one request a line, a flat JSON object, and executes it.
// It prints the fields of the response that the client read, as another object. steps.json in the folder above has the
// requests and the expected responses.

const readline = require('readline');
const {APIContracts, APIControllers} = require('authorizenet');

const gateway = process.env.SDK_GATEWAY;

// make returns a new object of the client with the defined values.
const make = (Type, values) => {
  const made = new Type();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) made[`set${name}`](value);
  return made;
};

const credentials = (r) => make(APIContracts.MerchantAuthenticationType, {Name: r.login, TransactionKey: r.key});

const paymentOf = (r) => {
  if (r.routing) {
    return make(APIContracts.PaymentType, {BankAccount: make(APIContracts.BankAccountType, {
      AccountType: APIContracts.BankAccountTypeEnum.CHECKING, RoutingNumber: r.routing, AccountNumber: r.account, NameOnAccount: 'Ana Ruiz',
    })});
  }
  if (!r.number) return undefined;
  return make(APIContracts.PaymentType, {CreditCard: make(APIContracts.CreditCardType, {
    CardNumber: r.number, ExpirationDate: r.expiry, CardCode: r.code,
  })});
};

const address = (r) => make(APIContracts.CustomerAddressType, {
  FirstName: 'Ana', LastName: 'Wåhlin', Address: '1 Elm St', City: 'Bellevue', State: 'WA', Zip: r.zip, Country: 'USA',
});

const settings = (r) => {
  const given = [['duplicateWindow', r.window], ['allowPartialAuth', r.partial]].filter(([, value]) => value !== undefined);
  if (!given.length) return undefined;
  return make(APIContracts.ArrayOfSetting, {
    Setting: given.map(([name, value]) => make(APIContracts.SettingType, {SettingName: name, SettingValue: value})),
  });
};

// profileOf returns the stored profile that a transaction charges, or the request to create one.
const profileOf = (r) => {
  if (r.create_profile) return make(APIContracts.CustomerProfilePaymentType, {CreateProfile: true});
  if (!r.customer_profile) return undefined;
  return make(APIContracts.CustomerProfilePaymentType, {
    CustomerProfileId: r.customer_profile, PaymentProfile: make(APIContracts.PaymentProfile, {PaymentProfileId: r.payment_profile}),
    ShippingProfileId: r.shipping_profile,
  });
};

const transaction = (r) => make(APIContracts.TransactionRequestType, {
  TransactionType: r.type, Amount: r.amount, Payment: paymentOf(r), Profile: profileOf(r), AuthCode: r.auth_code, RefTransId: r.ref_trans_id,
  SplitTenderId: r.split_tender,
  Order: r.invoice && make(APIContracts.OrderType, {InvoiceNumber: r.invoice, Description: 'two mugs'}),
  Customer: r.merchant_customer && make(APIContracts.CustomerDataType, {Id: r.merchant_customer, Email: r.email}),
  BillTo: r.zip && address(r), TransactionSettings: settings(r),
});

const profile = (r) => make(APIContracts.CustomerProfileType, {
  MerchantCustomerId: r.merchant_customer, Description: r.description, Email: r.email,
  PaymentProfiles: Array(Number(r.times || 1)).fill(make(APIContracts.CustomerPaymentProfileType, {
    CustomerType: APIContracts.CustomerTypeEnum.INDIVIDUAL, BillTo: address(r), Payment: paymentOf(r),
  })),
  ShipToList: r.shipping ? [address(r)] : undefined,
});

// storedCard returns a payment profile of a stored customer.
const storedCard = (r, Type, values) => make(Type, {BillTo: r.zip && address(r), Payment: paymentOf(r), ...values});

// byProfile returns a transaction by a stored profile. Its kind is the end of the name of its element.
const byProfile = (r) => make(APIContracts.ProfileTransactionType, {
  [`ProfileTrans${r.kind}`]: make(APIContracts[`ProfileTrans${r.kind}Type`], {
    Amount: r.amount, CustomerProfileId: r.customer_profile, CustomerPaymentProfileId: r.payment_profile,
    Order: r.invoice && make(APIContracts.OrderExType, {InvoiceNumber: r.invoice, Description: 'two mugs'}), TransId: r.ref_trans_id,
  }),
});

// page selects the newest transactions of a list.
const page = () => ({
  Sorting: make(APIContracts.TransactionListSorting, {OrderBy: APIContracts.TransactionListOrderFieldEnum.SUBMITTIMEUTC, OrderDescending: true}),
  Paging: make(APIContracts.Paging, {Limit: '1000', Offset: '1'}),
});

const requests = {
  unsettled: () => [APIContracts.GetUnsettledTransactionListRequest, APIControllers.GetUnsettledTransactionListController, page()],
  batches: () => [APIContracts.GetSettledBatchListRequest, APIControllers.GetSettledBatchListController, {IncludeStatistics: true}],
  batch: (r) => [APIContracts.GetBatchStatisticsRequest, APIControllers.GetBatchStatisticsController, {BatchId: r.batch}],
  settled: (r) => [APIContracts.GetTransactionListRequest, APIControllers.GetTransactionListController, {BatchId: r.batch, ...page()}],
  customer: (r) => [APIContracts.GetTransactionListForCustomerRequest, APIControllers.GetTransactionListForCustomerController,
    {CustomerProfileId: r.customer_profile, ...page()}],
  merchant: () => [APIContracts.GetMerchantDetailsRequest, APIControllers.GetMerchantDetailsController, {}],
  login: () => [APIContracts.AuthenticateTestRequest, APIControllers.AuthenticateTestController, {}],
  transaction: (r) => [APIContracts.CreateTransactionRequest, APIControllers.CreateTransactionController, {TransactionRequest: transaction(r)}],
  details: (r) => [APIContracts.GetTransactionDetailsRequest, APIControllers.GetTransactionDetailsController, {TransId: r.trans_id}],
  profile: (r) => [APIContracts.CreateCustomerProfileRequest, APIControllers.CreateCustomerProfileController,
    {Profile: profile(r), ValidationMode: r.validation}],
  'read-profile': (r) => [APIContracts.GetCustomerProfileRequest, APIControllers.GetCustomerProfileController,
    {CustomerProfileId: r.customer_profile, UnmaskExpirationDate: true}],
  'delete-profile': (r) => [APIContracts.DeleteCustomerProfileRequest, APIControllers.DeleteCustomerProfileController,
    {CustomerProfileId: r.customer_profile}],
  'add-card': (r) => [APIContracts.CreateCustomerPaymentProfileRequest, APIControllers.CreateCustomerPaymentProfileController,
    {CustomerProfileId: r.customer_profile, PaymentProfile: storedCard(r, APIContracts.CustomerPaymentProfileType), ValidationMode: r.validation}],
  'renew-card': (r) => [APIContracts.UpdateCustomerPaymentProfileRequest, APIControllers.UpdateCustomerPaymentProfileController,
    {CustomerProfileId: r.customer_profile, PaymentProfile: storedCard(r, APIContracts.CustomerPaymentProfileExType,
      {CustomerPaymentProfileId: r.payment_profile}), ValidationMode: r.validation}],
  'delete-card': (r) => [APIContracts.DeleteCustomerPaymentProfileRequest, APIControllers.DeleteCustomerPaymentProfileController,
    {CustomerProfileId: r.customer_profile, CustomerPaymentProfileId: r.payment_profile}],
  'by-profile': (r) => [APIContracts.CreateCustomerProfileTransactionRequest, APIControllers.CreateCustomerProfileTransactionController,
    {Transaction: byProfile(r), ExtraOptions: r.options}],
  expiring: (r) => [APIContracts.GetCustomerPaymentProfileListRequest, APIControllers.GetCustomerPaymentProfileListController,
    {SearchType: APIContracts.CustomerPaymentProfileSearchTypeEnum.CARDSEXPIRINGINMONTH, Month: r.month}],
};

const money = (amount) => (amount === undefined ? undefined : Number(amount).toFixed(2));

// first returns the first element of a list, which may be missing or empty.
const first = (list) => (list && list.length ? list[0] : undefined);

// readMade returns the profile that a payment created.
const readMade = (made) => (!made ? {} : {
  made_code: made.getMessages().getMessage()[0].getCode(), made_profile: made.getCustomerProfileId(),
  made_payment: first(made.getCustomerPaymentProfileIdList().getNumericString()),
});

const readTransaction = (body) => {
  const answer = new APIContracts.CreateTransactionResponse(body);
  const t = answer.getTransactionResponse();
  if (!t) return {};
  const prepaid = t.getPrePaidCard();
  const errors = t.getErrors() ? t.getErrors().getError() : [];
  const messages = t.getMessages() ? t.getMessages().getMessage() : [];
  return {
    response_code: t.getResponseCode(), reason: errors.length ? errors[0].getErrorCode() : messages.length ? messages[0].getCode() : '',
    trans_id: t.getTransId(), ref_trans_id: t.getRefTransID(), auth_code: t.getAuthCode(), avs: t.getAvsResultCode(),
    cvv: t.getCvvResultCode(), cavv: t.getCavvResultCode(), account_number: t.getAccountNumber(), account_type: t.getAccountType(),
    network_trans_id: t.networkTransId, split_tender: t.getSplitTenderId(),
    tenders: t.getSplitTenderPayments() && t.getSplitTenderPayments().getSplitTenderPayment().length,
    requested: prepaid && prepaid.getRequestedAmount(), approved: prepaid && prepaid.getApprovedAmount(),
    balance: prepaid && prepaid.getBalanceOnCard(), ...readIDs(t.getProfile()), ...readMade(answer.getProfileResponse()),
  };
};

// readIDs returns the numbers of the stored profile that paid.
const readIDs = (ids) => (!ids ? {} : {
  customer_profile: ids.getCustomerProfileId(), payment_profile: ids.getCustomerPaymentProfileId(), shipping_profile: ids.getCustomerAddressId(),
});

const readDetails = (body) => {
  const t = new APIContracts.GetTransactionDetailsResponse(body).getTransaction();
  if (!t) return {};
  const card = t.getPayment() && t.getPayment().getCreditCard();
  const bank = t.getPayment() && t.getPayment().getBankAccount();
  return {
    trans_id: t.getTransId(), ref_trans_id: t.getRefTransId(), status: t.getTransactionStatus(), type: t.getTransactionType(),
    response_code: t.getResponseCode(), reason: t.getResponseReasonCode(), auth_code: t.getAuthCode(), avs: t.getAVSResponse(),
    cvv: t.getCardCodeResponse(), auth_amount: money(t.getAuthAmount()), settle_amount: money(t.getSettleAmount()),
    account_number: card ? card.getCardNumber() : bank && bank.getAccountNumber(), account_type: card ? card.getCardType() : bank && 'eCheck',
    split_tender: t.getSplitTenderId(), requested: money(t.getRequestedAmount()), balance: money(t.getPrepaidBalanceRemaining()),
    batch: t.getBatch() && t.getBatch().getBatchId(), ...readIDs(t.getProfile()),
  };
};

const readProfile = (body) => {
  const answer = new APIContracts.CreateCustomerProfileResponse(body);
  const [payments, addresses] = [answer.getCustomerPaymentProfileIdList(), answer.getCustomerShippingAddressIdList()];
  const said = answer.getValidationDirectResponseList();
  return {
    customer_profile: answer.getCustomerProfileId(), payment_profile: payments && first(payments.getNumericString()),
    shipping_profile: addresses && first(addresses.getNumericString()), direct: said && first(said.getString()),
  };
};

// readRows returns the row of the requested transaction, or the first one.
const readRows = (Response) => (body, r) => {
  const answer = new Response(body);
  const rows = answer.getTransactions() ? answer.getTransactions().getTransaction() : [];
  const row = r.trans_id ? rows.find((one) => one.getTransId() === r.trans_id) : first(rows);
  return !row ? {} : {
    trans_id: row.getTransId(), status: row.getTransactionStatus(), invoice: row.getInvoiceNumber(), account_number: row.getAccountNumber(),
    account_type: row.getAccountType(), settle_amount: money(row.getSettleAmount()), total: answer.getTotalNumInResultSet(),
  };
};

const readBatch = (batch) => {
  if (!batch) return {};
  const row = first(batch.getStatistics().getStatistic());
  return {
    batch: batch.getBatchId(), status: batch.getSettlementState(), account_type: row.getAccountType(), charges: row.getChargeCount(),
    charged: money(row.getChargeAmount()), refunds: row.getRefundCount(), refunded: money(row.getRefundAmount()), voids: row.getVoidCount(),
  };
};

const readBatches = (body) => {
  const list = new APIContracts.GetSettledBatchListResponse(body).getBatchList();
  return readBatch(list && list.getBatch().slice(-1)[0]);
};

const readMerchant = (body) => {
  const answer = new APIContracts.GetMerchantDetailsResponse(body);
  return {
    merchant: answer.getMerchantName(), processor: answer.getProcessors() && first(answer.getProcessors().getProcessor()).getName(),
    currency: answer.getCurrencies() && first(answer.getCurrencies().getCurrency()),
  };
};

// readDirect returns the fields of a direct response, whose delimiter is a vertical bar here.
const readDirect = (body) => {
  const f = String(new APIContracts.CreateCustomerProfileTransactionResponse(body).getDirectResponse() || '').split('|');
  return f.length < 69 ? {} : {
    response_code: f[0], reason: f[2], auth_code: f[4], avs: f[5], trans_id: f[6], amount: f[9], type: f[11], cvv: f[38], cavv: f[39],
    account_number: f[50], account_type: f[51], network_trans_id: f[58],
  };
};

const readStored = (body) => {
  const profile = new APIContracts.GetCustomerProfileResponse(body).getProfile();
  if (!profile) return {};
  const cards = profile.getPaymentProfiles() || [];
  return {
    customer_profile: profile.getCustomerProfileId(), email: profile.getEmail(), cards: cards.length,
    expiry: cards.length ? cards[cards.length - 1].getPayment().getCreditCard().getExpirationDate() : undefined,
  };
};

const readAdded = (body) => {
  const made = new APIContracts.CreateCustomerPaymentProfileResponse(body);
  return {customer_profile: made.getCustomerProfileId(), payment_profile: made.getCustomerPaymentProfileId(), direct: made.getValidationDirectResponse()};
};

const readers = {
  'read-profile': readStored, 'add-card': readAdded, 'by-profile': readDirect, 'delete-profile': () => ({}), 'renew-card': () => ({}),
  'delete-card': () => ({}), expiring: (body) => ({total: new APIContracts.GetCustomerPaymentProfileListResponse(body).getTotalNumInResultSet()}),
  login: () => ({}), transaction: readTransaction, details: readDetails, profile: readProfile, batches: readBatches, merchant: readMerchant,
  unsettled: readRows(APIContracts.GetUnsettledTransactionListResponse), settled: readRows(APIContracts.GetTransactionListResponse),
  customer: readRows(APIContracts.GetTransactionListResponse),
  batch: (body) => readBatch(new APIContracts.GetBatchStatisticsResponse(body).getBatch()),
};

// execute sends one request. If the exchange itself fails, the client never calls back: hence the time limit.
const execute = (r) => new Promise((resolve, reject) => {
  const [Request, Controller, values] = requests[r.method](r);
  const request = make(Request, {MerchantAuthentication: credentials(r), RefId: r.ref_id, ...values});
  const controller = new Controller(request.getJSON());
  controller.setEnvironment(gateway);
  const timeout = setTimeout(() => reject(controller.getError() || new Error(`${r.step}: no answer`)), 30000);
  controller.execute(() => {
    clearTimeout(timeout);
    const body = controller.getResponse();
    const answer = new APIContracts.ANetApiResponse(body);
    const message = answer.getMessages().getMessage()[0];
    resolve({
      step: r.step, ref_id: answer.getRefId(), result: answer.getMessages().getResultCode(), code: message.getCode(), text: message.getText(),
      ...readers[r.method](body, r),
    });
  });
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
