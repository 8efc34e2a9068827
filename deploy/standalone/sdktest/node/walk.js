'use strict';
// One legacy merchant's day, through the official Node client: prints one JSON line per step. With the number of a settled sale as its
// argument: the refund of the morning after. The Go test above this folder starts it, with the address and the credentials in the
// environment, and asserts every line.

const {APIContracts, APIControllers} = require('authorizenet');

const env = (name) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
};
const gateway = env('SDK_GATEWAY');

const credentials = (key = env('SDK_KEY')) => {
  const auth = new APIContracts.MerchantAuthenticationType();
  auth.setName(env('SDK_LOGIN'));
  auth.setTransactionKey(key);
  return auth;
};

const card = (number = '4111111111111111', expiry = '2031-04', code = '900') => {
  const creditCard = new APIContracts.CreditCardType();
  creditCard.setCardNumber(number);
  creditCard.setExpirationDate(expiry);
  if (code) creditCard.setCardCode(code);
  const payment = new APIContracts.PaymentType();
  payment.setCreditCard(creditCard);
  return payment;
};

const address = (zip) => {
  const billTo = new APIContracts.CustomerAddressType();
  billTo.setFirstName('Ana');
  billTo.setLastName('Wåhlin');
  billTo.setAddress('1 Elm St');
  billTo.setCity('Bellevue');
  billTo.setState('WA');
  billTo.setZip(zip);
  billTo.setCountry('USA');
  return billTo;
};

const order = (step) => {
  const o = new APIContracts.OrderType();
  o.setInvoiceNumber(`node-${step}`);
  o.setDescription('two mugs');
  return o;
};

const payment = (step, type, amount, zip = '98004') => {
  const r = new APIContracts.TransactionRequestType();
  r.setTransactionType(type);
  r.setAmount(amount);
  r.setPayment(card());
  r.setOrder(order(step));
  r.setBillTo(address(zip));
  return r;
};

const later = (type, transId, amount) => {
  const r = new APIContracts.TransactionRequestType();
  r.setTransactionType(type);
  if (amount !== undefined) r.setAmount(amount);
  r.setRefTransId(transId);
  return r;
};

const refund = (transId, amount) => {
  const r = later('refundTransaction', transId, amount);
  r.setPayment(card('XXXX1111', 'XXXX', null));
  return r;
};

// send executes one request and prints what the client itself read from the answer.
const send = (step, transactionRequest, auth = credentials()) => new Promise((resolve, reject) => {
  const request = new APIContracts.CreateTransactionRequest();
  request.setMerchantAuthentication(auth);
  request.setRefId(`ref-${step}`.slice(0, 20));
  request.setTransactionRequest(transactionRequest);
  const controller = new APIControllers.CreateTransactionController(request.getJSON());
  controller.setEnvironment(gateway);
  // The client never calls back when the exchange itself fails; without this the test would hang.
  const timeout = setTimeout(() => reject(controller.getError() || new Error(`${step}: no answer`)), 20000);
  controller.execute(() => {
    clearTimeout(timeout);
    const answer = new APIContracts.CreateTransactionResponse(controller.getResponse());
    const t = answer.getTransactionResponse();
    const errors = t && t.getErrors() ? t.getErrors().getError() : [];
    const messages = t && t.getMessages() ? t.getMessages().getMessage() : [];
    const line = {
      step,
      ref_id: answer.getRefId(),
      result: answer.getMessages().getResultCode(),
      code: answer.getMessages().getMessage()[0].getCode(),
      response_code: (t && t.getResponseCode()) || '',
      reason: errors.length ? errors[0].getErrorCode() : messages.length ? messages[0].getCode() : '',
      trans_id: (t && t.getTransId()) || '',
      auth_code: (t && t.getAuthCode()) || '',
      account_number: (t && t.getAccountNumber()) || '',
      account_type: (t && t.getAccountType()) || '',
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
    resolve(line);
  });
});

const day = async () => {
  const sale = await send('sale', payment('sale', 'authCaptureTransaction', 12.5));
  const held = await send('authorize', payment('authorize', 'authOnlyTransaction', '20.00'));
  await send('capture', later('priorAuthCaptureTransaction', held.trans_id, 5));
  const mistake = await send('authorize-2', payment('authorize-2', 'authOnlyTransaction', '30.00'));
  await send('void', later('voidTransaction', mistake.trans_id));
  await send('decline', payment('decline', 'authCaptureTransaction', '7.00', '46282'));
  await send('wrong-key', payment('wrong-key', 'authCaptureTransaction', '9.00'), credentials('wrong00000000000'));
  await send('refund-early', refund(sale.trans_id, '2.50'));
};

const settled = process.argv[2];
(settled ? send('refund', refund(settled, '2.50')) : day()).catch((error) => {
  process.stderr.write(`${error.stack || error}\n`);
  process.exitCode = 1;
});
